"""Seconds that NiMARE's ALE kernel takes for the maps of studies: PEAKS.csv MASK.nii FWHM_MM.

Runs in an environment that has the package nimare; prints one number.
"""

import sys
import time
import warnings

import pandas as pd
from nilearn.maskers import NiftiMasker
from nimare.meta.kernel import ALEKernel

REPEATS = 3


def main(peaks, mask, fwhm_mm):
    table = pd.read_csv(peaks).rename(columns={"study": "id"})
    masker = NiftiMasker(mask).fit()
    masker.mask_img = masker.mask_img_  # an image, not a path
    kernel = ALEKernel(fwhm=float(fwhm_mm))

    def run(part):
        return kernel.transform(part, masker=masker, return_type="array")

    run(table[table["id"] == table["id"].iloc[0]])  # imports and compilation
    seconds = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        maps = run(table)
        seconds.append(time.perf_counter() - start)
    assert len(maps) == table["id"].nunique()
    print(min(seconds))


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    main(*sys.argv[1:])
