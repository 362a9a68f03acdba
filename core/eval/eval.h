/* SPDX-License-Identifier: Apache-2.0 */
/* core/eval: the interpreter of the graph. It reads tensor expressions as the code generators do, and serves constant folding and tests
 * as the reference. */
#pragma once
#include "core/eval/evaluator.h"
#include "core/eval/fold.h"
