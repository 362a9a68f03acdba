/* SPDX-License-Identifier: Apache-2.0 */
/* LLVM, found when it is first used: its code is 120 MiB, and most commands, and programs that compile nothing, start without it. */
#pragma once
#include "core/base/base.h"
#include <llvm-c/Analysis.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Object.h>
#include <llvm-c/Orc.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include "gantry-llvm-functions.h"

G_BEGIN_DECLS

/** Loads it. Returns: FALSE with %GANTRY_ERROR_FAILED where it is not installed, or not as expected; any thread, as often as wanted */
gboolean gantry_llvm_load (GError **error);

G_END_DECLS
