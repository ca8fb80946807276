"""
Which terms and studies belong to a cluster?
============================================

nilearn lists the clusters of a statistical map by their peaks: coordinates, without names.
neurowhere adds the region of each peak, the terms that published studies associate with it, and the
studies themselves.
"""

import warnings

import matplotlib.pyplot as plt
from nilearn import plotting
from nilearn.datasets import load_sample_motor_activation_image
from nilearn.reporting import get_clusters_table

from neurowhere import decode, decode_many, load_model, name_regions

# %%
# The table of nilearn
# --------------------
# The map comes with nilearn: button presses with the left hand against the right. Its values are
# cut off at the top, so nilearn warns about peaks in the middle of a plateau.

motor = load_sample_motor_activation_image()
with warnings.catch_warnings(action="ignore", category=UserWarning):
    table = get_clusters_table(motor, stat_threshold=4, cluster_threshold=20, two_sided=True)
table = table[table["Cluster Size (mm3)"] != ""].reset_index(drop=True)  # main peaks only
table.head()

# %%
# Regions and terms
# -----------------
# ``name_regions`` keeps the table and adds the region of each peak, or the closest one and its
# distance. ``decode_many`` decodes named places one after another.

model = load_model()
table = name_regions(table)
peaks = table[["X", "Y", "Z"]].to_numpy(float)
places = dict(zip(table["Cluster ID"].astype(str), peaks, strict=True))
decoded = {name: found for name, found, _ in decode_many(model, places, n_terms=3)}
table["terms"] = [", ".join(found.terms["term"]) if found else "" for found in decoded.values()]
columns = ["Cluster ID", "X", "Y", "Z", "Peak Stat", "name", "distance_mm", "terms"]
table[columns].round(1)

# %%
# A figure with names
# -------------------

shown = table[table["distance_mm"] == 0].head(4)
figure, axes = plt.subplots(len(shown), 1, figsize=(9, 2.6 * len(shown)))
for axis, (_, row) in zip(axes, shown.iterrows(), strict=True):
    plotting.plot_stat_map(
        motor,
        cut_coords=(row["X"], row["Y"], row["Z"]),
        threshold=4,
        axes=axis,
        colorbar=False,
    )
    axis.set_title(f"{row['name']}: {row['terms']}", fontsize="small", loc="left")

# %%
# Studies
# -------
# The training studies whose texts point to the strongest cluster most:

strongest = table["Peak Stat"].astype(float).idxmax()
decode(model, peaks[strongest]).studies.head()

# %%
# From the command line, for the table itself, for one with columns x, y, z and id, or for maps:
#
# .. code-block:: bash
#
#    neurowhere regions clusters.csv --table named.csv
#    neurowhere decode peaks.csv --by id --table decoded.csv
#    neurowhere decode maps --table decoded.csv

plt.show()
