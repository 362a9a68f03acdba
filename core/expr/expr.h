/* SPDX-License-Identifier: Apache-2.0 */
/* core/expr: tensor expressions, the one meaning of an operation. texpr.h: the expression of a node over its operands; storage.h: what
 * follows from it for memory; kernel-expression.h: all expressions of a kernel in one graph with affine addresses, the form that
 * schedules and code generators read; index-arithmetic.h: arithmetic on places. */
#pragma once
#include "core/expr/index-arithmetic.h"
#include "core/expr/kernel-expression.h"
#include "core/expr/storage.h"
#include "core/expr/texpr.h"
