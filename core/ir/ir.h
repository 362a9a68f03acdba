/* SPDX-License-Identifier: Apache-2.0 */
/* core/ir: the language in which the rooms of Gantry talk: types, literals, the operation table with
 * its tensor expressions, modules of graphs, the builder and rewriter that make them, their text
 * form, the verifier and the evaluator; and the types (not the making) of plan and executable. */
#pragma once
#include "core/ir/attrs.h"
#include "core/ir/builder.h"
#include "core/ir/context.h"
#include "core/ir/dialect.h"
#include "core/ir/evaluator.h"
#include "core/ir/executable.h"
#include "core/ir/kernel-sizes.h"
#include "core/ir/literal.h"
#include "core/ir/memory-parts.h"
#include "core/ir/module.h"
#include "core/ir/operation.h"
#include "core/ir/placement.h"
#include "core/ir/plan-alive.h"
#include "core/ir/plan-figures.h"
#include "core/ir/plan.h"
#include "core/ir/rewriter.h"
#include "core/ir/text.h"
#include "core/ir/texpr.h"
#include "core/ir/type.h"
#include "core/ir/verifier.h"
