"""Array types: the alias that signatures of estimators share."""

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
