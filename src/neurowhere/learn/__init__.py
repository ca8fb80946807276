"""Regressors: arrays in, coefficients and certificate out."""
