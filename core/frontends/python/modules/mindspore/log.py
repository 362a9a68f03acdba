# SPDX-License-Identifier: Apache-2.0
"""Messages of programs, through Python's logging: GLOG_v says from which level on they are printed (0 debug ... 3 error)."""
import logging as _logging
import os as _os
import sys as _sys

_LEVELS = (_logging.DEBUG, _logging.INFO, _logging.WARNING, _logging.ERROR, _logging.CRITICAL)


def _level():
    text = _os.environ.get("GLOG_v", "2")
    return int(text) if text in ("0", "1", "2", "3", "4") else 2


def _get_logger():
    logger = _logging.getLogger("mindspore")
    if not logger.handlers:
        handler = _logging.StreamHandler(_sys.stderr)
        handler.setFormatter(_logging.Formatter("[%(levelname)s] ME(%(process)d):%(asctime)s [%(pathname)s:%(lineno)d] %(message)s"))
        logger.addHandler(handler)
        logger.propagate = False
        logger.setLevel(_LEVELS[_level()])
    return logger


def get_level():
    return str(_level())


def debug(message, *args, **options):
    _get_logger().debug(message, *args, stacklevel=2, **options)


def info(message, *args, **options):
    _get_logger().info(message, *args, stacklevel=2, **options)


def warning(message, *args, **options):
    _get_logger().warning(message, *args, stacklevel=2, **options)


def error(message, *args, **options):
    _get_logger().error(message, *args, stacklevel=2, **options)


def critical(message, *args, **options):
    _get_logger().critical(message, *args, stacklevel=2, **options)
