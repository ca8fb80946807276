"""An encoding that has all that a report shows, from a text that would run in a browser."""

import pandas as pd
import pytest
from tests.studies import small_model

HOSTILE = "</script><script>window.hacked = 1</script><img src=x onerror='window.hacked = 1'>"
SECRET = "Mrs Jabberwock, left PICA stroke"
TEXT = f"The amygdala and visual cortices; no lesion in the motor cortex.\n{HOSTILE}\n{SECRET}"
STUDIES = pd.DataFrame(
    {
        "id": ["123", "doi-<b>"],
        "title": ["Fear <i>and</i> the amygdala", None],
        "similarity": [0.9, 0.5],
        "link": ["https://pubmed.ncbi.nlm.nih.gov/123/", ""],
    }
)


@pytest.fixture(scope="session")
def model():
    return small_model()


@pytest.fixture(scope="session")
def result(model):
    encoding = model.encode(TEXT)
    encoding.__dict__["similar"] = STUDIES  # as if it had been found
    return encoding
