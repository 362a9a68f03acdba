/* SPDX-License-Identifier: Apache-2.0 */
/* Differential testing of whole graphs: one random program, run on every back end under every configuration, has to
 * give the values that exact arithmetic gives, within the rounding that its operations may do. What differs is made
 * small and written as a text module with its configuration.
 *
 * generate.c and its siblings write programs, oracle.c and its siblings say what may come out, run.c runs one
 * configuration, compare.c judges, shrink.c makes a failing program small, finding.c writes and reads the result. */
#pragma once
#include "core/graph/module.h"
#include "core/kernels/kernels.h"
#include "core/planner/planner.h"
#include "core/runtime/device.h"

G_BEGIN_DECLS

/* Configurations */

typedef enum
{
  DIFF_EVALUATOR, /* core/eval in the program's own element types */
  DIFF_OWN,       /* generated vector code alone */
  DIFF_LIBRARY,   /* generated code and oneDNN */
  DIFF_GRID,      /* the schedules for a GPU, lowered for the processor */
  DIFF_N_BACK_ENDS
} DiffBackEnd;

/**
 * DiffConfig: one way to run a program.
 *
 * @instructions: what generated code and the library may use; of the library it holds for the whole process
 * @block: channels in a block of layouts, 0: as the instruction set has it
 * @left_out: (nullable): the pass that is switched off; a name of gantry_compiler_passes()
 * @optimization: LLVM's level of code generation
 * @placements: 0: everything is kept; else the seed of random placements
 * @threads: 1 to %DIFF_MOST_THREADS; 0: 1. With more than one all work that can be divided is, however little it is
 * @rolled: no loop and no branch is written out that can run as one
 * @whole: check after each instruction that it wrote nothing but its results (slow)
 */
typedef struct
{
  DiffBackEnd back_end;
  GantryInstructionSet instructions;
  guint block;
  const char *left_out;
  guint optimization;
  guint32 placements;
  guint threads;
  gboolean rolled;
  gboolean whole;
} DiffConfig;

#define DIFF_MOST_THREADS 3u

const char *diff_back_end_name (DiffBackEnd back_end);
/** "library pass-without=fuse optimization=1". Returns: (transfer full) */
char *diff_config_text (const DiffConfig *config);
/** Returns: FALSE with an error that names the word that is not known. Strings are interned. */
gboolean diff_config_parse (const char *text, DiffConfig *config, GError **error);

/* Programs */

/**
 * diff_generate:
 *
 * A random program of static types that compiles on all back ends; the same seed gives the same program in the same
 * build.
 *
 * Returns: (transfer full)
 */
GantryModule *diff_generate (guint64 seed);

/**
 * diff_inputs:
 *
 * Values for the parameters of the entry function; each depends on @seed and the parameter's name alone, so that they
 * stay while a program shrinks.
 *
 * Returns: (transfer full) (array): one literal for each parameter
 */
GPtrArray *diff_inputs (const GantryModule *module, guint64 seed);

/* What may come out */

/**
 * DiffValue: what exact arithmetic gives, and how far rounding may lead away from it.
 *
 * @value: integers and booleans as they are, floats as f64
 * @error: (nullable): NULL: nothing may differ; else a bound for each element; %INFINITY: anything may come out, since
 *  rounding decides a comparison, an index or an overflow on which the element depends
 */
typedef struct
{
  const GantryType *type; /* in the program */
  GantryLiteral *value;
  double *error;
} DiffValue;

void diff_value_free (gpointer value);

/**
 * diff_oracle:
 *
 * Evaluates the entry function in f64 and carries a bound of the rounding error along, value by value: running error
 * analysis (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.3).
 *
 * Returns: (transfer full) (nullable) (element-type DiffValue): one for each result
 */
GPtrArray *diff_oracle (const GantryModule *module, const GPtrArray *inputs, GError **error);

/* Running and comparing */

/** What runs of one process share: devices by threads - 1, each from its first run on. */
typedef struct
{
  GantryDevice *devices[DIFF_MOST_THREADS];
} DiffMachine;

DiffMachine *diff_machine_new (void);
void diff_machine_free (DiffMachine *machine);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (DiffMachine, diff_machine_free)

/**
 * diff_run:
 *
 * Returns: (transfer full) (nullable) (element-type GantryLiteral): the results; %GANTRY_ERROR_UNSUPPORTED where the
 *  back end refuses the program (diff_may_refuse()), anything else is a fault
 */
GPtrArray *diff_run (DiffMachine *machine, GantryModule *module, const GPtrArray *inputs, const DiffConfig *config, GError **error);

/** Whether a back end may refuse a program so: half precision takes instructions that not every set has, and a loop that ends by its data
 * stays one only where no value in it lies in host memory. Any other refusal is a fault. */
gboolean diff_may_refuse (const char *message);

/**
 * diff_random_placements:
 * @share: part of the values that are asked about at all; of them each is given one of all kinds, or stays where that is not allowed
 *
 * Returns: (transfer full)
 */
GantryPlacements *diff_random_placements (const GantryPlanner *planner, guint32 seed, double share);

/**
 * DiffCount: how much was compared and how well.
 *
 * @exact: values that have to be equal
 * @near: values within a bound of at most 1 % of the largest magnitude of their tensor
 * @loose: with a larger bound
 * @open: not compared: anything may come out
 * @worst: largest distance in units of the bound that was still accepted, over @near
 */
typedef struct
{
  guint64 exact, near, loose, open;
  double worst;
} DiffCount;

/** Returns: (transfer full) (nullable): NULL: no difference; else the first one in words */
char *diff_compare (const GPtrArray *expected, const GPtrArray *got, DiffCount *count);
void diff_count_add (DiffCount *count, const DiffCount *more);

/* Programs in files: what once failed */

/**
 * DiffFinding: a program with what is needed to see it fail.
 *
 * @seed: of the inputs
 */
typedef struct
{
  GantryModule *module;
  guint64 seed;
  DiffConfig config;
} DiffFinding;

void diff_finding_clear (DiffFinding *finding);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DiffFinding, diff_finding_clear)

/** The text module behind lines of comment with configuration and seed; @difference is for people. */
gboolean diff_finding_write (const DiffFinding *finding, const char *difference, const char *path, GError **error);
gboolean diff_finding_read (DiffFinding *finding, const char *path, GError **error);

/* Many programs */

/** What became of the programs on one back end. */
typedef struct
{
  guint64 passed, failed, skipped;
  gint64 us; /* wall-clock time */
  DiffCount count;
} DiffTally;

/**
 * DiffSession: programs @first to @first + @count - 1 of a seed.
 *
 * A program that ends the process is a failure like another: they run in a child process, and the next child goes on
 * with the next program.
 *
 * @until: monotonic time after which no program is begun and no further configuration of one; 0: none
 * @config: (nullable): one configuration for all; NULL: every back end, the rest by rotation
 * @product: every program whose number this divides runs in every configuration; 0: none
 * @findings: (nullable): the folder that failing programs are written to; NULL: they are only told
 */
typedef struct
{
  guint64 seed;
  guint64 first, count;
  gint64 until;
  const DiffConfig *config;
  guint64 product;
  const char *findings;
} DiffSession;

/** What all programs took together; shared between processes. */
typedef struct
{
  guint64 programs, nodes;
  gint64 generate_us, oracle_us;
  DiffTally back_ends[DIFF_N_BACK_ENDS];
} DiffTotal;

/** Prints failures to standard output as they are found, as comment lines of TAP. */
void diff_session_run (const DiffSession *session, DiffTotal *total);

/** The seed of program @number of a session: any program can be made again by itself. */
guint64 diff_program_seed (guint64 seed, guint64 number);
/**
 * diff_rotation:
 * @product: also every combination of back end, instruction set, block size and pass left out, ordered by instruction
 *  set; else one configuration for each back end, with the rest in turn and one instruction set
 *
 * Returns: (transfer full) (element-type DiffConfig): the configurations of program @number
 */
GArray *diff_rotation (guint64 number, gboolean product);
/** The instruction sets that this processor has, or lacks. @sets: room for all. Returns: how many */
guint diff_instruction_sets (gboolean available, GantryInstructionSet *sets);

/* One program in a process of its own */

/** How it ended. */
typedef enum
{
  DIFF_SAME,
  DIFF_DIFFERS, /* in a value */
  DIFF_BROKEN,  /* an error that is no refusal */
  DIFF_REFUSED,
  DIFF_FELL, /* the process ended */
} DiffOutcome;

/**
 * diff_attempt:
 * @text: (out) (optional) (transfer full): what is wrong
 *
 * Runs a program in a child process. To be called from a process with one thread that has not used the library.
 */
DiffOutcome diff_attempt (GantryModule *module, guint64 seed, const DiffConfig *config, char **text);

G_END_DECLS
