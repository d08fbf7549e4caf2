"""Operands of the FP64 exponential and logarithm, a class of them a name: all finite and inside the domain."""

import math
import struct

import numpy as np

ONE = 0x3FF0_0000_0000_0000
HIDDEN_BIT = 1 << 52


def value_of(code):
    """Return the value of an FP64 code."""
    return struct.unpack("<d", struct.pack("<Q", code))[0]


def code_of(value):
    """Return the FP64 code of a value."""
    return struct.unpack("<Q", struct.pack("<d", value))[0]


def codes_of(values):
    """Return the codes of many values."""
    return np.asarray(values, np.float64).view(np.uint64).tolist()


def neighbours(values, reach):
    """Return the codes around each value, at most ``reach`` steps away."""
    return [code + step for code in codes_of(values) for step in range(-reach, reach + 1)]


def exponential_samples():
    """Return operands of the exponential."""
    rng = np.random.default_rng(64)
    magnitudes = np.exp2(rng.uniform(-70, 9.47, 12000))
    steps = np.concatenate((np.arange(-1030, 1030), rng.integers(-275000, 262000, 1000)))
    steps = steps[steps != 0]
    odd = 2 * np.floor(np.exp2(rng.uniform(0, 20, 1000))) + 1
    return {
        "the whole range": codes_of(rng.uniform(-745, 709.7, 20000)),
        "around zero": codes_of(magnitudes * rng.choice([-1, 1], magnitudes.size)),
        "table entries": neighbours(steps * (math.log(2) / 256), 1),
        "between table entries": neighbours((steps + 0.5) * (math.log(2) / 256), 2),
        "the largest results": neighbours([709.782712893384], 0) + codes_of(rng.uniform(709, 709.78, 1000)),
        "subnormal results": codes_of(rng.uniform(-745.13, -708.39, 5000)),
        "the least results": neighbours([-708.3964185322641, -744.4400719213812], 200),
        # exp(x) = 1 + x + x**2 / 2 + ...: half a step beyond a number, and a little more.
        "hard cases next to one": codes_of(np.concatenate((odd * 2.0**-53, -odd * 2.0**-54))),
    }


def logarithm_samples():
    """Return operands of the logarithm."""
    rng = np.random.default_rng(46)
    distances = np.exp2(rng.uniform(-52, -6, 12000))
    borders = 1 + np.arange(256) / 256
    subnormal = rng.integers(1, HIDDEN_BIT, 3000) >> rng.integers(0, 52, 3000)
    return {
        "the whole range": rng.integers(HIDDEN_BIT, 0x7FF0_0000_0000_0000, 20000).tolist(),
        "half to two": codes_of(rng.uniform(0.5, 2, 20000)),
        "around one": [code for code in codes_of(np.concatenate((1 + distances, 1 - distances / 2))) if code != ONE],
        "next to one": [ONE + step for step in range(-500, 501) if step],
        "table entries": [
            code + step
            for scale in (0.25, 0.5, 1, 2, 2.0**-1022, 2.0**1023)
            for code in codes_of(borders * scale)
            for step in (-2, -1, 0, 1, 2)
            if code + step != ONE
        ],
        "subnormal operands": [1, 2, 3, HIDDEN_BIT - 1, *np.maximum(subnormal, 1).tolist()],
        "the largest operands": [0x7FF0_0000_0000_0000 - step for step in range(1, 200)],
        "hard cases next to one": _hard_logarithms(),
    }


def _hard_logarithms():
    """Return codes of one plus ``k`` steps whose logarithm is half a step beyond a number, and a little more.

    ``log(1 + u) = u - u**2 / 2 + u**3 / 3 - ...`` with ``u = k * 2**-52``: if ``k`` has ``n`` bits, the result has steps of
    ``2**(n - 105)`` and ``u**2 / 2`` is ``k**2 * 2**-105``, half of them for an odd multiple of ``2**((n - 1) / 2)``.
    """
    halves = range(2, 10)
    return [
        ONE + (odd << half) for half in halves for odd in range((1 << half) + 1, 2 << half, max(2, (1 << half) // 32))
    ]
