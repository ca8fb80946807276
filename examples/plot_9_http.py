"""
HTTP API
========

``neurowhere serve`` answers from any language, on a machine of your own: texts never leave it. Here
the server runs within this script, and is asked over HTTP as any program would. It needs
``pip install 'neurowhere[serve]'``.
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

from neurowhere import load_model
from neurowhere.web.app import create_app

# %%
# A server
# --------
# You would type ``neurowhere serve`` in another window instead of this.


@contextmanager
def serving(app):
    """Serve an application from a thread, on a port that is free, until the block ends."""
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
# Every query is a POST with a JSON body, so that no text is ever part of an address or a log.
# The answer is JSON; with a suffix of the path it is a NIfTI image, a picture or a page.

note = {"text": "left MCA infarct with aphasia, the thalamus is spared", "regions": 6}

with serving(create_app(load_model())) as api:
    encoded = requests.post(f"{api}/encode", json=note, timeout=60)
    image = requests.post(f"{api}/encode.nii.gz", json=note | {"image": "log_ratio"}, timeout=60)
    decoded = requests.post(f"{api}/decode", json={"points": [[-24, -4, -18]]}, timeout=60)
    mistake = requests.post(f"{api}/encode", json={"texts": "?"}, timeout=60)

for response in (encoded, image, decoded, mistake):
    print(response.status_code, response.headers["Content-Type"], len(response.content), "bytes")

# %%
# What was read in the text, and where it points:

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
# The image, as it came over the wire:

plotting.plot_stat_map(
    nib.Nifti1Image.from_bytes(gzip.decompress(image.content)),
    cut_coords=answer["peaks"][0]["at"],
    cmap="RdBu_r",
    threshold=0.5,
    draw_cross=False,
)

# %%
# Words for a place:

pd.DataFrame(decoded.json()["terms"]).head(5)

# %%
# And a mistake, which is told in one line without repeating anything of the text:

print(mistake.json()["error"]["message"])

# %%
# With curl:
#
# .. code-block:: bash
#
#    neurowhere serve &
#    curl -s http://127.0.0.1:8000/api/v1/encode -H 'Content-Type: application/json' \\
#         -d '{"text": "left MCA infarct with aphasia, the thalamus is spared"}'
#
# :doc:`/serve` has all routes and limits.

plt.show()
