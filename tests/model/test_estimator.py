"""The encoder keeps the conventions of scikit-learn, checked by scikit-learn's own tests."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted
from tests.model.test_encoder import make_atlas
from tests.studies import GRID, TERMS, make_corpus

from neurowhere import Encoder
from neurowhere.exceptions import FitError, TextError

# Those that need no table of numbers as input.
CHECKS = [
    "check_estimator_cloneable",
    "check_estimator_repr",
    "check_estimator_tags_renamed",
    "check_get_params_invariance",
    "check_mixin_order",
    "check_no_attributes_set_in_init",
    "check_parameters_default_constructible",
    "check_set_params",
    "check_valid_tag_types",
]


@pytest.mark.parametrize("name", CHECKS)
def test_scikit_learn_is_content(name):
    getattr(estimator_checks, name)("Encoder", Encoder())


def test_parameters_are_what_the_constructor_got():
    atlas = make_atlas()
    model = Encoder(atlas, "l2", vocabulary=TERMS, brain=GRID)
    fitted = clone(model).fit(make_corpus())
    assert fitted.partition is not atlas  # it is cut to the brain
    assert fitted.get_params()["partition"] is not fitted.partition
    again = clone(fitted)
    assert again.partition.n_regions == atlas.n_regions
    np.testing.assert_array_equal(again.partition.regions, atlas.regions)
    assert model.get_params()["partition"] is atlas


@pytest.mark.parametrize(
    "ask",
    [
        lambda model: model.predict(["amygdala"]),
        lambda model: list(model.iter_predict(["amygdala"])),
        lambda model: model.transform(["amygdala"]),
        lambda model: model.encode("amygdala"),
        lambda model: list(model.encode_many(["amygdala"])),
        lambda model: model.term_img("amygdala"),
        lambda model: model.score(["amygdala"], [[[0, 0, 0]]]),
    ],
)
def test_a_model_that_is_not_fitted_says_so(ask):
    with pytest.raises(NotFittedError, match="call fit"):
        ask(Encoder())
    with pytest.raises(FitError):
        ask(Encoder())


def test_scikit_learn_sees_whether_it_is_fitted():
    model = Encoder(GRID, text="none")
    with pytest.raises(NotFittedError):
        check_is_fitted(model)
    check_is_fitted(model.fit(make_corpus()))


def test_one_string_is_not_a_list_of_texts():
    model = Encoder(GRID, "l2", vocabulary=TERMS).fit(make_corpus())
    for ask in (model.predict, model.transform, lambda text: list(model.encode_many(text))):
        with pytest.raises(TextError, match="put it in a list"):
            ask("the amygdala")
    with pytest.raises(TextError, match="put it in a list"):
        Encoder().fit("the amygdala", [[[0, 0, 0]]])
    with pytest.raises(TextError, match="expected one text"):
        model.encode(["the amygdala"])
