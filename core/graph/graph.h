/* SPDX-License-Identifier: Apache-2.0 */
/* core/graph: the intermediate representation: types, literals, the operation table, modules of functions in SSA form, the builder
 * and the rewriter that make them, their text form and the verifier. What an operation computes stands in core/expr. */
#pragma once
#include "core/graph/attrs.h"
#include "core/graph/builder.h"
#include "core/graph/context.h"
#include "core/graph/dialect.h"
#include "core/graph/literal.h"
#include "core/graph/module.h"
#include "core/graph/operation.h"
#include "core/graph/rewriter.h"
#include "core/graph/text.h"
#include "core/graph/type.h"
#include "core/graph/verifier.h"
