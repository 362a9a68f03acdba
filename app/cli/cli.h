/* SPDX-License-Identifier: Apache-2.0 */
/* app/cli: gantry-cli, one file for each subcommand. It does all that the window does, without a
 * display, and is also the child in which the window generates and runs code. This header is what
 * the subcommands share: options, output as text or as one JSON object, exit status. */
#pragma once
#include "app/cli/target.h"
#include "core/document/size.h"
#include <json-glib/json-glib.h>
#include <stdio.h>

G_BEGIN_DECLS

enum
{
  GANTRY_EXIT_DONE = 0,
  GANTRY_EXIT_ERROR = 1,
  GANTRY_EXIT_MISMATCH = 2,
  GANTRY_EXIT_UNSUPPORTED = 3,
  GANTRY_EXIT_ABOVE_LIMIT = GANTRY_CHILD_ABOVE_LIMIT,
};

typedef struct
{
  const char *name;
  const char *arguments;              /* "MODEL" */
  const char *summary;                /* one line */
  int (*run) (int argc, char **argv); /* argv[0] is the subcommand's name */
} GantryCommandInfo;

/* The subcommands, a file each. @argv: as main() has it, from the subcommand's name on. Each prints its answer on standard output, errors
 * on standard error, and returns the exit status. */
int gantry_cli_info (int argc, char **argv);      /* what is in a model file, or in a trace, and what of it cannot be compiled */
int gantry_cli_passes (int argc, char **argv);    /* what each pass changed, or the program after one of them */
int gantry_cli_compile (int argc, char **argv);   /* code, plan and a session file, for this machine or for a GPU */
int gantry_cli_run (int argc, char **argv);       /* runs and measures, compares outputs; also the child of the window */
int gantry_cli_render (int argc, char **argv);    /* graph, timeline or memory as SVG, PNG or DOT */
int gantry_cli_verify (int argc, char **argv);    /* folders of ONNX backend tests; mismatches are the exit status */
int gantry_cli_pack (int argc, char **argv);      /* offsets in one arena for the buffers of a table */
int gantry_cli_train (int argc, char **argv);     /* a training step of a program, with its plan */
int gantry_cli_plan (int argc, char **argv);      /* the plan under a policy, a limit or a goal */
int gantry_cli_solve (int argc, char **argv);     /* placements that reach a goal of memory or time */
int gantry_cli_pareto (int argc, char **argv);    /* the front of memory and time */
int gantry_cli_export (int argc, char **argv);    /* a recording for Perfetto or as a table, or a model */
int gantry_cli_runs (int argc, char **argv);      /* lists the runs of a session, and deletes some */
int gantry_cli_import (int argc, char **argv);    /* takes a trace of Nsight Systems or PyTorch into a session */
int gantry_cli_devices (int argc, char **argv);   /* what programs can run on, and what is missing for others */
int gantry_cli_calibrate (int argc, char **argv); /* what a device does, as a target file */
int gantry_cli_profile (int argc, char **argv);   /* records runs, here or on another machine */
int gantry_cli_serve (int argc, char **argv);     /* answers `profile --host` of another gantry-cli */
int gantry_cli_python (int argc, char **argv);    /* runs a Python program: what it jit-compiles runs here */
int gantry_cli_check (int argc, char **argv);     /* what of a Python program no graph can be made of */

/** What a command makes code for: where that is the processor, products stay the library's, whatever machine is planned for. */
typedef enum
{
  GANTRY_CLI_NO_CODE,
  GANTRY_CLI_CODE_FOR_PROCESSOR,
  GANTRY_CLI_CODE_FOR_GPU
} GantryCliCode;

/** What all subcommands that open a model understand. */
typedef struct
{
  GantryReadFiles *read; /* what the command reads, for what it writes; from gantry_cli_parse() on */
  gboolean json;
  gboolean progress;
  gboolean finite_math;
  gint unroll;        /* nodes; G_MININT: the usual limit */
  gboolean fuse_rows; /* also set where the code is for a GPU */
  GantryCliCode made_for;
  char **dims;            /* "batch=8" */
  char *entry;            /* graph of a program */
  char **sets;            /* "rate=16000": values of inputs */
  char **disabled;        /* pass names */
  gboolean keep_unbound;  /* dimensions without a size stay open: for looking only */
  gboolean allow_outside; /* what the model reads outside its folder */
  gboolean changed_model; /* of a session: as it is now */
  gboolean trust_program; /* a session's model may be a program, which is run */
  gint64 random_weights;  /* seed, -1: as in the file */
  /* What becomes of values in memory: understood where @places is set before parsing. */
  gboolean places;
  char *policy; /* file of statements */
  char *rules;  /* statements */
  char *limit;  /* of device memory */
  char *host_limit;
  char *order, *allocator;   /* names */
  char *target;              /* as --target was given */
  GantryCliTarget resolved;  /* what it means, from gantry_cli_parse() on */
  const GantryGpuModel *gpu; /* (nullable): whose rates a program is planned with that has no other GPU's */
  gboolean tf32;             /* its products of f32 are on tensor cores */
  gboolean embed;            /* what -o writes carries the model along */
  /* What code is made of: understood where @code is set before parsing. */
  gboolean code;
  char *instructions; /* name of a set */
  gint layout_block;
  gboolean quick_compile;
  const GantryTrainingOptions *training; /* (nullable) (unowned): make a training step */
  /* How its kernels are made, NULL: as for a run without options; set by gantry_kernel_table_count_in(). The second has the document
   * planned with what its kernels need, before a limit in per cent is taken of the peak. */
  char *(*conditions) (gconstpointer how); /* (nullable): as of GantryCompileSettings (transfer full) */
  gboolean (*use_kernels) (GantryDocument *document, gconstpointer how, const GantryProgress *progress, GError **error);
  guint (*threads) (gconstpointer how); /* (nullable) */
  gconstpointer how;                    /* (unowned) */
} GantryCliOptions;

#define GANTRY_CLI_OPTIONS_INIT \
  { \
    .random_weights = -1, .unroll = G_MININT /* not given */ \
  }

void gantry_cli_options_clear (GantryCliOptions *options);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryCliOptions, gantry_cli_options_clear)

/**
 * gantry_cli_parse:
 * @command: of the subcommand, for the help text
 * @own: (nullable): the subcommand's options
 * @argc: (inout): the rest afterwards
 *
 * Returns: FALSE after printing what is wrong
 */
gboolean gantry_cli_parse (const char *command, const char *arguments, const char *description, GantryCliOptions *options, const GOptionEntry *own, int *argc,
                           char ***argv);

/**
 * gantry_cli_open:
 *
 * Opens and compiles @path with the options; their `read` has all files that this took.
 *
 * Returns: (transfer full) (nullable): NULL after an error
 */
GantryDocument *gantry_cli_open (const GantryCliOptions *options, const char *path, GError **error);
/** Progress lines on standard output when asked for ("progress 0.25 Compiling"). */
const GantryProgress *gantry_cli_progress (const GantryCliOptions *options);

/** @notice: (nullable): of runs that are not read, for standard error */
void gantry_cli_tell_left_out (const GError *notice);
/** @hint, which names an option; "" where options are of no use to who reads the message (%GANTRY_NO_OPTION_HINTS). (transfer none) */
const char *gantry_cli_hint (const char *hint);
/** Prints the error on standard error, with the options that do what it asks for. Returns: the exit status that belongs to it. */
int gantry_cli_fail (const GError *error);
/**
 * gantry_cli_close_standard_output:
 *
 * What was printed may still lie in a buffer, or have been refused: a disk that is full says so at the last moment. A command that was
 * started without standard output and prints nothing is none the worse. Nothing is printed after it.
 *
 * Returns: @status, or an error's where what was printed did not arrive
 */
int gantry_cli_close_standard_output (int status);
/** Adds to the error of a plan that does not fit into its limit which command finds one that does. */
void gantry_cli_advise_search (GError **error);
/**
 * gantry_cli_print:
 * @format: as printf() has it, of strings, integers and real numbers
 *
 * All that goes to standard output goes this way: strings may be a stranger's, and are shown as gantry_format_text() does, without
 * line ends and tabs.
 */
void gantry_cli_print (const char *format, ...) G_GNUC_PRINTF (1, 2);
/** The same on standard error. */
void gantry_cli_tell (const char *format, ...) G_GNUC_PRINTF (1, 2);
/** A text of several lines; all else that a terminal would obey is shown. */
void gantry_cli_write_lines (FILE *file, const char *text);
/** A message of several lines, ready to be written: what follows the first line is indented. (transfer full) */
char *gantry_cli_message (const char *text);
/** Prints @root (transfer full) as the one object on standard output. */
void gantry_cli_print_json (JsonBuilder *builder);
/** @text (nullable), which may be a stranger's, as a field of a list or a table: without tabs, line ends and what a terminal obeys, and of
 *  ASCII alone, as g_strescape() writes it. (transfer full) */
char *gantry_cli_field (const char *text);
/** "6.1 MiB" (transfer full) */
char *gantry_cli_bytes (guint64 bytes);
/**
 * gantry_cli_parse_size:
 * @option: that it was given for, "--limit"
 * @text: 8GiB, 512M, 1000 or 30%
 */
gboolean gantry_cli_parse_size (const char *option, const char *text, GantrySize *size, GError **error);

/** A value of an array or a member: JSON has no infinity and no NaN, which become null. */
void gantry_cli_add_number (JsonBuilder *json, double value);
/* Members of the JSON object that is being built. */
/** @key: of a member that the object does not have yet */
void gantry_cli_add_int (JsonBuilder *json, const char *key, gint64 value);
/** null where it is not known. */
void gantry_cli_add_measured (JsonBuilder *json, const char *key, gboolean known, guint64 value);
/** @value: null where it is infinite or NaN */
void gantry_cli_add_double (JsonBuilder *json, const char *key, double value);
/** Of an answer of the solver: null where no bound is known, which a negative @gap says. */
void gantry_cli_add_gap (JsonBuilder *json, double gap);
void gantry_cli_add_string (JsonBuilder *json, const char *key, const char *value); /* NULL gives null */
/** What is said of a plan in all answers: members of the object that is open. */
void gantry_cli_add_figures (JsonBuilder *json, const GantryPlanFigures *figures);
/** An object with the bytes of each part. */
void gantry_cli_add_parts (JsonBuilder *json, const char *key, const GantryMemoryParts *parts);
/** A member that is true or false. */
void gantry_cli_add_boolean (JsonBuilder *json, const char *key, gboolean value);

G_END_DECLS
