/* SPDX-License-Identifier: Apache-2.0 */
/* One compilation: what kernels.c, which goes through the nodes, and jobs.c, which generates what is
 * distinct, share. */
#pragma once
#include "core/kernels/cpu/jit.h"
#include "core/kernels/gpu/ptxas.h"
#include "core/base/base.h"
#include "core/graph/module.h"
#include "core/kernels/options.h"
#include "core/plan/executable.h"
#include "core/kernels/schedule/bind.h"

G_BEGIN_DECLS

/* A function to generate, shared by all nodes whose source is equal. */
typedef struct
{
  GantryKernelSource source;
  guint n_results;
  char *symbol;
  gint64 n_tasks;
  GRefString *ir, *assembly; /* (nullable): all kernels that the job makes share them */
  double compile_ms;
  LLVMMemoryBufferRef object;
  GError *error;
  GantryKernelFunc func;
  /* Of bound programs: */
  GantryBound *bound;   /* (nullable): where it is there already, of a hand-written kernel; else by gantry_bind() */
  GRefString *schedule; /* (nullable): likewise */
  guint64 workspace_bytes;
  guint32 n_launches;
  GantryGpuLaunch *launches; /* their image is the job's number */
  GantryGpuImage image;      /* of GANTRY_CODE_CUDA */
} GantryJob;

typedef struct
{
  GantryModule *module;
  GantryKernelOptions options;
  const GantryProgress *progress;
  GantryCompiler *compiler; /* of this thread; what it can do, all can */
  GantryGpu gpu;            /* that bound programs are for */
  GantryPtxas *ptxas;       /* (nullable): there is none */
  GArray *kernels;          /* GantryKernel */
  GArray *job_of;           /* gint: index of the job per kernel, -1: none */
  GPtrArray *jobs;          /* Job */
  GHashTable *by_key;       /* GBytes -> 1 + index of the job */
  GHashTable *by_call;      /* GBytes -> 2 + index of the kernel that calls the library so, 1: the library does not */
  guint8 *blocked;          /* per node id: its value is in the blocked layout */
  guint8 *constant;         /* per node id: its value is known at load */
  guint block;
  guint64 code_bytes;      /* of linked objects, and of the library */
  gboolean code_at_least;  /* the library's is not known */
  GHashTable *diagnostics; /* char *: "<op>: <why>", in the order of `lines` */
  GPtrArray *lines;
} GantryCompile;

/** Keeps "<op>: @why" for the error at the end, once. */
void gantry_compile_add_diagnostic (GantryCompile *c, const GantryNode *node, const char *why);
/** The job of @node: a new one, or one that is there already. Returns: its index, -1 when it cannot be generated */
gint gantry_compile_add_job (GantryCompile *c, const GantryNode *node, GantryKernel *kernel);
/** The same for a kernel that is written by hand as a bound program. */
gint gantry_compile_add_builtin_job (GantryCompile *c, const GantryNode *node, GantryKernel *kernel);
/** The job of a conversion to fewer bits, or @back, as a bound program. Returns: its index */
gint gantry_compile_add_compression_job (GantryCompile *c, const GantryCompression *compression, gboolean back, const char *name);
/** The expression of @node as text, one line for each result. Returns: (transfer full) (nullable) */
char *gantry_compile_expression (GantryCompile *c, const GantryNode *node);
/** Generates all jobs, on as many threads as the options say. */
gboolean gantry_compile_run_jobs (GantryCompile *c, GError **error);
/** Makes them callable. */
gboolean gantry_compile_link_jobs (GantryCompile *c, GantryJit *jit, GError **error);
void gantry_job_free (gpointer job);
/** A compiler for the target of the options. */
GantryCompiler *gantry_compile_new_compiler (const GantryCompile *c, GError **error);

/* compile-bound.c */

/** Generates a job by way of its bound programs: sets its error on failure. @ir: @assembly: (out) (optional) (nullable): texts */
void gantry_compile_run_bound_job (GantryCompile *c, GantryCompiler *compiler, GantryJob *job, char **ir, char **assembly);
/** What the kernel of the node, whose job it is, gets from it. */
void gantry_compile_finish_bound (GantryCompile *c, GantryKernel *kernel, const GantryJob *job, guint32 image);

G_END_DECLS
