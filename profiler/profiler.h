/* SPDX-License-Identifier: Apache-2.0 */
/* profiler: what a run measured. recording.h is the model that the session file keeps and the views
 * draw; a recorder makes one by observing runs. Depends on core/graph and core/plan alone. */
#pragma once
#include "profiler/cpu/recorder.h"
#include "profiler/import.h"
#include "profiler/overlap.h"
#include "profiler/recording.h"
