/* SPDX-License-Identifier: Apache-2.0 */
/* core/base: what every room stands on and what knows nothing of graphs: errors, arenas, string
 * interning, progress and cancelling, formatting of sizes and times. Depends on GLib alone. */
#pragma once
#include "core/base/allocate.h"
#include "core/base/arena.h"
#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/format.h"
#include "core/base/interner.h"
#include "core/base/output.h"
#include "core/base/pages.h"
#include "core/base/process-limits.h"
#include "core/base/process-memory.h"
#include "core/base/processor.h"
#include "core/base/progress.h"
#include "core/base/read-files.h"
#include "core/base/scratch.h"
