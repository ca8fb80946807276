"""Templates, and images that a request brings."""

import gzip
import tracemalloc

import nibabel
import numpy as np
import pytest

from neurowhere.report.volumes import BOX_MM, brain, coarse_brain, to_nifti
from neurowhere.web.errors import ApiError
from neurowhere.web.images import read_image


def image(values):
    return nibabel.Nifti1Image(values, np.eye(4))


def test_the_template_fills_its_box_fine_and_coarse():
    for template, size in ((brain(), 1), (coarse_brain(), 2)):
        ends = np.array(template.shape) * size
        assert ends.tolist() == [last - first + 1 for first, last in BOX_MM]
        first = template.affine[:3, 3] - size / 2
        np.testing.assert_allclose(first, [start - 0.5 for start, _ in BOX_MM])
        assert np.asarray(template.dataobj).max() > 200


# ---- images that a request brings


@pytest.mark.parametrize("kind", ["u1", "<i2", ">i2", "<i8", "<f4", ">f4", "<f8"])
@pytest.mark.parametrize("slope", [None, 0.25])
def test_an_upload_has_the_values_that_nibabel_reads(kind, slope):
    values = np.random.default_rng(0).integers(0, 100, (7, 8, 9)).astype(kind)
    header = nibabel.Nifti1Header(endianness=kind[0] if kind[0] in "<>" else "<")
    header.set_data_dtype(kind)
    saved = nibabel.Nifti1Image(values, np.diag([3, 4, 5, 1]), header)
    content = saved.to_bytes() if slope is None else _scaled(saved.to_bytes(), header.endianness)
    expected = nibabel.Nifti1Image.from_bytes(content)
    found = read_image(gzip.compress(content))
    np.testing.assert_allclose(found.dataobj, expected.dataobj, rtol=1e-6)
    np.testing.assert_array_equal(found.affine, expected.affine)


def _scaled(content, order):
    """Set the slope and the intercept in the header of a file."""
    scale = np.array([0.25, -2.0], f"{order}f4").tobytes()
    return content[:112] + scale + content[120:]


def test_an_upload_that_is_cut_is_refused():
    content = image(np.zeros((9, 8, 7), np.float32)).to_bytes()
    for cut in (content[:-1], content[:352], content[:40], b""):
        with pytest.raises(ApiError) as caught:
            read_image(cut)
        assert caught.value.code == "invalid_image"


def test_an_upload_is_not_copied():
    content = to_nifti(image(np.zeros((180, 210, 180))))  # 54 MB of float64
    tracemalloc.start()
    kept = read_image(content)
    _, most = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert most < 1.5 * np.asarray(kept.dataobj).nbytes
