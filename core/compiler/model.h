/* SPDX-License-Identifier: Apache-2.0 */
/* An opened model file: its imported module and what the file says about itself, whatever its format. */
#pragma once
#include "core/base/base.h"
#include "core/compiler/bindings.h"
#include "core/frontends/xla/assignment.h"

G_BEGIN_DECLS

typedef struct
{
  char *name;
  char *type;    /* "f32[batch,3,224,224]" */
  guint donated; /* of an input: 1 + the number of the output that is written over it; 0 for none */
} GantryModelValue;

typedef struct
{
  char *operation;
  char *why;
  char *where;
  guint count;
} GantryModelRefusal;

/** GantryModelStage: the program after a pass of the compiler that has written it. */
typedef struct
{
  char *pass; /* unique; "import" of the first */
  char *title;
  char *description;
  GantryModule *module;
} GantryModelStage;

/** A file that a model was read from, as it was then. */
typedef struct
{
  char *path;
  GantryFileIdentity identity;
  char *hash;              /* (nullable): SHA-256 of the content, once it is known; guarded by GantryModel.hashing, as is: */
  GantryFileIdentity same; /* that the path had when it was last found to hold the same; zero: none */
} GantryModelFile;

/** GantryModel: immutable, reference counted. */
typedef struct
{
  gatomicrefcount ref_count;
  char *path;
  char *format;      /* "ONNX", "Gantry text", "StableHLO text", "HLO text" */
  char *producer;    /* "" when the file does not say */
  char *opset;       /* "ai.onnx 13, com.microsoft 1"; "" for other formats */
  gint64 main_opset; /* 0 for other formats */
  guint64 file_bytes;
  GArray *files;         /* GantryModelFile: the model's own, then its external data or imported modules; none of a program that was made */
  GantryReadFiles *read; /* @files, what was read for the bindings, and what else lies there for the same reader: no output may replace it */
  char *hash;            /* (nullable): made on demand: ask gantry_model_hash() */
  char *own_hash;        /* (nullable): likewise, of the first file alone */
  guint n_nodes;         /* of ONNX as the file counts them, nested graphs included; else of the entry function, as GantrySnapshot counts them */
  guint n_initializers;
  guint64 initializer_bytes;
  guint n_inputs, n_outputs, n_unsupported;
  GantryModelValue *inputs, *outputs;
  GantryModelRefusal *unsupported;
  char **unbound; /* names of dimensions that have no size yet */
  char **warnings;
  char *policy;                    /* (nullable): statements of core/planner/policy/policy.h that the program says itself, as jax.checkpoint does */
  GantryBindings *bindings;        /* what the user gave it */
  gint64 random_weights;           /* seed of the weights (core/compiler/random-weights.h), -1: the file's own */
  GArray *stages;                  /* (nullable): GantryModelStage: what another compiler's passes made; that of the last is @module */
  GantryXlaAssignment *assignment; /* (nullable): of a dump: what XLA planned for the module that it ended with */
  GantryModule *module;
  GMutex compiling; /* held while it is compiled */
  gpointer hold;    /* (nullable): GantryCacheHold of the entry of the user's cache that the files lie in */
  char *carried_as; /* (nullable): the path that the session names, where the files are those that it carried along */
  GMutex hashing;   /* guards @hash and @own_hash, and what is found out of @files */
} GantryModel;

GantryModel *gantry_model_ref (GantryModel *model);
void gantry_model_unref (GantryModel *model);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryModel, gantry_model_unref)

#define GANTRY_PYTHON_FORMAT "Python"
#define GANTRY_DUMP_FORMAT "XLA dump"

/** Whether opening @path runs it. */
gboolean gantry_model_is_program (const char *path);
/** What a program is remembered by that a user has let run: its content and its place. Returns: (transfer full) (nullable): as
 * gantry_file_map_text() where it fails */
char *gantry_model_program_mark (const char *path, GError **error);

/**
 * gantry_model_find_unsupported:
 *
 * Goes through the whole program for what cannot be compiled: what opening the model found (its `unsupported`), and what is only known
 * once each operation is asked: custom calls of other programs' code, element types, loops whose end depends on data.
 *
 * Returns: (transfer full) (nullable) (element-type GantryModelRefusal): %NULL when cancelled
 */
GPtrArray *gantry_model_find_unsupported (const GantryModel *model, const GantryProgress *progress, GError **error);

/** What the operations of all front ends mean, for a text, which may have been written of a module as it was imported. */
void gantry_model_add_dialects (GantryContext *context);
/** Names of the files that gantry_model_open() reads, for a dialog: "*.onnx *.gir *.py *.mlir". (transfer full) */
char *gantry_model_patterns (void);
/** The same for people: "ONNX (.onnx), torch.export (.pt2) or Gantry's text form (.gir)". (transfer full) */
char *gantry_model_formats (void);

/**
 * gantry_model_open:
 * @path: an ONNX model, a module in Gantry's text form (.gir), StableHLO (.mlir, .stablehlo), HLO (.hlo), a folder of XLA's dumps, or a
 *  Python program (.py), which is run in a child process: see gantry_program_graphs_run()
 * @bindings: (nullable): sizes of symbolic dimensions, values of inputs
 * @random_weights: a seed, or -1 for the weights of the file
 *
 * Returns: (transfer full) (nullable): NULL with one error that says what is wrong, where, and what to do
 */
GantryModel *gantry_model_open (const char *path, const GantryBindings *bindings, gint64 random_weights, const GantryProgress *progress, GError **error);
/**
 * gantry_model_new:
 * @name: stands for the path that it does not have
 *
 * A program that was made and not opened: nothing is known of it but @module, which verifies.
 *
 * Returns: (transfer full)
 */
GantryModel *gantry_model_new (GantryModule *module, const char *name);
/**
 * gantry_model_hash:
 *
 * SHA-256, hexadecimal, of what was opened: of the file where it is one; else of the hashes of all files, a line each, in the order of
 * their paths. Reads all of them the first time: for worker threads.
 *
 * Returns: (transfer full) (nullable): NULL with %GANTRY_ERROR_INVALID where a file has changed since it was opened
 */
char *gantry_model_hash (GantryModel *model, GError **error);
/** Whether @hash is that of @model, or of its first file alone, as older sessions have it. FALSE with @error unset where not. */
gboolean gantry_model_has_hash (GantryModel *model, const char *hash, GError **error);
/**
 * The first file that does not hold what it held when the model was opened: (transfer none) (nullable). A file that was only touched, or
 * written again with the same bytes, is read to find that out, once: for worker threads.
 */
const char *gantry_model_find_changed (const GantryModel *model);
/** FALSE with %GANTRY_ERROR_INVALID, and what to do, where a file has changed since it was opened. */
gboolean gantry_model_check_files (const GantryModel *model, GError **error);
/** The identities of all files as text: equal where nothing has changed. (transfer full) */
char *gantry_model_identity (const GantryModel *model);

G_END_DECLS
