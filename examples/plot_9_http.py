"""
HTTP API
========

``neurowhere serve`` starts a server that programs in any language can use. It runs on your own
machine, and texts never leave it. In this example the server runs within the script, which sends it
HTTP requests like any other program. It needs ``pip install 'neurowhere[serve]'``.
"""

import gzip
import threading
import time
from contextlib import contextmanager

import matplotlib.pyplot as plt
import nibabel as nib
import pandas as pd
import requests
import uvicorn
from nilearn import plotting

from neurowhere import create_app, load_model

# %%
# A server
# --------
# Usually you would run ``neurowhere serve`` in another terminal instead.


@contextmanager
def serving(app):
    """Serve an application from a thread, on a free port, until the block ends."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.05)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/api/v1"
    finally:
        server.should_exit = True
        thread.join()


# %%
# Three requests
# --------------
# Every query is a POST request with a JSON body, so that text never appears in an address or a log.
# The answer is JSON; a suffix of the path selects a NIfTI image, a figure or a page instead.

note = {"text": "left MCA infarct with aphasia, the thalamus is spared", "regions": 6}

with serving(create_app(load_model())) as api:
    encoded = requests.post(f"{api}/encode", json=note, timeout=60)
    image = requests.post(f"{api}/encode.nii.gz", json=note | {"image": "log_ratio"}, timeout=60)
    decoded = requests.post(f"{api}/decode", json={"points": [[-24, -4, -18]]}, timeout=60)
    mistake = requests.post(f"{api}/encode", json={"texts": "?"}, timeout=60)

for response in (encoded, image, decoded, mistake):
    print(response.status_code, response.headers["Content-Type"], len(response.content), "bytes")

# %%
# The terms of the text, and where it points:

answer = encoded.json()
pd.DataFrame(answer["terms"])[["term", "weight", "contribution"]]

# %%
regions = pd.DataFrame(answer["regions"])[::-1]
figure, axes = plt.subplots(figsize=(7, 3), layout="constrained")
axes.barh(regions["name"], regions["probability"], color="#0072B2")
for row, (_, region) in enumerate(regions.iterrows()):
    axes.text(region["probability"], row, f"  {region['ratio']:.1f} × the average", va="center")
axes.set_xlabel("probability of a peak")
axes.set_xlim(right=1.4 * regions["probability"].max())
axes.spines[["top", "right"]].set_visible(False)

# %%
# The image in the response:

plotting.plot_stat_map(
    nib.Nifti1Image.from_bytes(gzip.decompress(image.content)),
    cut_coords=answer["peaks"][0]["at"],
    cmap="RdBu_r",
    threshold=0.5,
    draw_cross=False,
)

# %%
# Words for a location:

pd.DataFrame(decoded.json()["terms"]).head(5)

# %%
# An invalid request is answered with a one-line error, which repeats nothing of the text:

print(mistake.json()["detail"])

# %%
# With curl:
#
# .. code-block:: bash
#
#    neurowhere serve &
#    curl -s http://127.0.0.1:8000/api/v1/encode -H 'Content-Type: application/json' \\
#         -d '{"text": "left MCA infarct with aphasia, the thalamus is spared"}'
#
# :doc:`/serve` lists all routes and limits.

plt.show()
