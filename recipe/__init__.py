"""Recipe: how the model that the package ships is fitted. The package itself does not need it.

`tools/train_model.py` runs it on all studies, `benchmarks/kinds_of_text.py` on folds of them.
"""

from recipe.fitting import Recipe
from recipe.material import Material
from recipe.sources import read_material
from recipe.views import to_encoder

__all__ = ["Material", "Recipe", "read_material", "to_encoder"]
