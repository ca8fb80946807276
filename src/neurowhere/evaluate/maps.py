"""Maps that were made elsewhere, by PubMed id: images, or one array."""

import os
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from neurowhere._tools.coordinates import transform_points
from neurowhere.corpus import Corpus
from neurowhere.evaluate.protocol import ALL
from neurowhere.exceptions import CorpusError
from neurowhere.space import VoxelGrid
from neurowhere.space.images import read_volume

SUFFIXES = (".nii.gz", ".nii")


class Maps:
    """Maps that were made elsewhere, one for each study.

    Parameters
    ----------
    name : str
    maps : mapping of str to array of shape (n_voxels,), or to a path of an image
        By PubMed id.
    grid : VoxelGrid
        Of the benchmark; images are interpolated at the centres of its voxels.
    trained_on : collection of str
        Ids of studies whose maps come from a model that was trained on them.
    """

    kinds = (ALL,)

    def __init__(
        self,
        name: str,
        maps: Mapping[str, Any],
        *,
        grid: VoxelGrid,
        trained_on: Collection[str] = (),
    ) -> None:
        self.name, self.maps, self.grid = name, maps, grid
        self.trained_on = frozenset(map(str, trained_on))

    @property
    def known(self) -> Collection[str]:
        """Ids of the studies that have a map; others are dropped from the test."""
        return self.maps.keys()

    def predict(self, studies: Corpus) -> NDArray[np.floating]:
        """Return the maps of studies."""
        return np.array(
            [self._map(name) for name in studies.documents["id"].astype(str)], dtype=np.float32
        )

    def _map(self, name: str) -> NDArray[np.floating]:
        found = self.maps[name]
        if isinstance(found, str | os.PathLike):
            return sample_image(Path(found), self.grid)
        if len(found) != self.grid.n_regions:
            raise CorpusError(
                f"expected maps of {self.grid.n_regions:,} voxels, the grid of the benchmark; got "
                f"{len(found):,} for {name}: give images, or resample them"
            )
        return np.asarray(found)


def sample_image(path: Path, grid: VoxelGrid) -> NDArray[np.float64]:
    """Interpolate an image linearly at the centres of the voxels of a grid; 0 beyond its edges.

    Parameters
    ----------
    path : Path
    grid : VoxelGrid

    Returns
    -------
    array of shape (n_voxels,)
    """
    from scipy.ndimage import map_coordinates

    values, affine = read_volume(path, "the map")
    values = np.squeeze(values)
    if values.ndim != 3:
        raise CorpusError(f"expected one 3-D map in {path}, got shape {values.shape}")
    voxels = transform_points(np.linalg.inv(affine), grid.centers_mm)  # (n_voxels, 3)
    clean = np.nan_to_num(values.astype(np.float64))
    return np.asarray(map_coordinates(clean, voxels.T, order=1, cval=0.0))


def read_maps(path: str | os.PathLike[str], grid: VoxelGrid, name: str | None = None) -> Maps:
    """Read maps: a folder of images named by PubMed id, or an array file.

    Parameters
    ----------
    path : path
        A folder of ``PMID.nii.gz`` or ``PMID.nii``; or an ``.npz`` file with the arrays ``ids`` and
        ``maps``, of shape (n, n_voxels), and perhaps ``trained_on``. A text file
        ``trained_on.txt`` in the folder has ids, one a line.
    grid : VoxelGrid
    name : str, optional
        By default that of the file or folder.

    Returns
    -------
    Maps
    """
    source = Path(path)
    name = name or source.name.removesuffix(".npz")
    if source.is_dir():
        images = {
            file.name.removesuffix(suffix): file
            for suffix in SUFFIXES
            for file in sorted(source.glob(f"*{suffix}"))
        }
        if not images:
            raise CorpusError(f"expected images named by PubMed id in {source}, but there are none")
        declared = source / "trained_on.txt"
        seen = declared.read_text("utf-8").split() if declared.exists() else []
        return Maps(name, images, grid=grid, trained_on=seen)
    try:
        with np.load(source, allow_pickle=False) as arrays:
            ids, maps = arrays["ids"].astype(str).tolist(), arrays["maps"]
            seen = arrays["trained_on"].astype(str).tolist() if "trained_on" in arrays else []
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise CorpusError(
            f"expected a folder of images, or an .npz file with arrays ids and maps; got {source}"
        ) from error
    if maps.ndim != 2 or len(maps) != len(ids):
        raise CorpusError(
            f"expected one map for each of {len(ids):,} ids in {source}; got shape {maps.shape}"
        )
    return Maps(name, dict(zip(ids, maps, strict=True)), grid=grid, trained_on=seen)
