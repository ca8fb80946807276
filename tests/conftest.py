"""What all tests share: where the development data is, if it is here."""

import os
from pathlib import Path

import pytest
from hypothesis import settings

DATA = Path(os.environ.get("NEUROWHERE_DATA", Path(__file__).parents[2] / "shared" / "data"))

settings.register_profile("house", deadline=None)  # a busy machine is no error
settings.load_profile("house")


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real corpora, atlases and vocabularies; tests that need it skip without."""
    if not DATA.is_dir():
        pytest.skip(f"needs the development data: no folder {DATA} (set NEUROWHERE_DATA)")
    return DATA
