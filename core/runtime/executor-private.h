/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the executor share: a loaded executable. Made by executor-load.c, run by
 * executor.c, told about by executor-observe.c and checked by executor-verify.c. */
#pragma once
#include "core/plan/memory-measure.h"
#include "core/runtime/runtime.h"

#define PLACE_ALIGNMENT 64u

/** A place of an arena, named by the buffer that owns it. */
typedef struct
{
  guint32 owner;
  guint32 begin, end; /* steps; those of a program without steps are at n_steps */
  guint64 bytes;      /* whole place */
  guint64 used;       /* of those the ones that hold a value at some time */
} Place;

/** Indices of places, grouped by step: items[first[s]] to items[first[s + 1]]. */
typedef struct
{
  guint32 *first; /* n_steps + 2 */
  guint32 *items;
} PlacesByStep;

typedef struct _PlaceSlot PlaceSlot;

/** Commands between two instructions of control: queues meet there, for the host decides what is next. */
typedef struct
{
  guint32 end[GANTRY_N_QUEUES]; /* of its commands, by queue; they begin where those of the segment before end */
  guint32 control;              /* instruction that comes then, or G_MAXUINT32: the end */
} Segment;

/** Control as loaded: its regions, each with commands of its own. */
typedef struct
{
  GantryExecutor *regions[2];
  guint64 taken[2];                /* by the last run: how often each region ran */
  GArray *slices;                  /* executor-region.c: the stacks that the scan under way takes slices of */
  GArray *copies[GANTRY_N_QUEUES]; /* GantryCommand: beside a trip, and on the compute queue between two of them; kept from trip to trip,
                                    * which therefore allocates nothing */
} ControlRun;

struct _GantryExecutor
{
  GantryDevice *device;
  GantryExecutable *executable;
  guint8 *arenas[GANTRY_N_MEMORY_KINDS]; /* NULL where nothing is planned */
  gsize arena_bytes[GANTRY_N_MEMORY_KINDS];
  guint8 *constants; /* the constant region, then the packed weights, then literals where the device cannot read the host's */
  gsize constant_bytes;
  guint64 *literals; /* (nullable): by buffer: where in `constants` the bytes of its literal lie; G_MAXUINT64: nowhere */
  void **addresses;  /* by buffer */
  gpointer loaded;   /* code on the device */

  void **arguments;        /* of all launches, one list after the other */
  guint32 *first_argument; /* by instruction */
  gpointer *prepared;      /* by instruction: what the device launches */
  GantryCommand *commands[GANTRY_N_QUEUES];
  guint32 n_commands[GANTRY_N_QUEUES];
  GArray *segments;     /* Segment: one at least */
  ControlRun *controls; /* by control of the executable */
  GArray *spans;        /* (nullable): GantryRegionSpan, of the run under way where somebody wants them; of a region: what it is within has them */
  guint64 spans_left_out;
  GArray *region_events; /* (nullable): GantryRegionEvent, as spans */
  guint64 region_events_left_out;
  GantryHostCall host_call; /* (nullable): who answers custom calls; of a region that of what is around it */
  gpointer host_call_self;
  GantryExecutor *parent;           /* (nullable) (unowned): of a region: the executor that runs its control */
  const GantryRegionLayout *layout; /* (nullable): of a region */
  guint8 *workspace;                /* of a region */
  GArray *riders[GANTRY_N_QUEUES];  /* (nullable) (unowned): of a region: GantryCommand that run beside its first commands */
  guint32 n_events;
  guint32 *event_of;   /* by instruction: the event that happens after it, or G_MAXUINT32 */
  GantryStamp *stamps; /* by instruction */

  guint32 n_places;
  Place *places;
  guint32 *place_of; /* by buffer: index in places, or G_MAXUINT32 outside the arenas */
  PlacesByStep allocated, released;
  gint64 run_ns;                 /* the last run's */
  gint64 *step_begin, *step_end; /* n_steps + 1: of the last run; 0, 0: did not run */
  GantryVerifyFlags verify;
  gboolean measuring;             /* this run's memory is measured */
  const GantryProgress *progress; /* (nullable): of that run */
  GantryMemoryMeasure *measure;   /* (nullable) */
  const char *missing;            /* (nullable): static: what the system did not tell, so that there is no measure */
  guint64 free_before;            /* of the device, before anything was loaded, as its driver counts; 0: it does not say */
  guint64 process_peak;           /* seen before the process's peak was reset for that */

  gint *alias;   /* by input: the result that is donated over it, or -1 */
  guint8 *stays; /* by input: nothing but that result is ever written into its place */
  guint8 *kept;  /* by place: it keeps what it holds at the start of this run */
  /* executor-bind.c; all FALSE on a device that is not the host */
  guint8 *readable;   /* by input: nothing is ever written into its place: it may be read where the caller has it */
  guint8 *donatable;  /* by input: as `stays`, and the value takes the whole place: it may be written over where the caller has it */
  guint8 *returnable; /* by output: it may be written where the caller wants it */
  PlaceSlot *slots;   /* (nullable): by place, from first_slot[place] on */
  guint32 *first_slot;
  guint8 **base;        /* by place: where it lies now */
  guint8 *lent;         /* by place: that is memory of the caller */
  guint64 copied_bytes; /* by the last run: inputs and results that could not be used where they lie */

  gboolean complete; /* the last run was finished: the places of inputs that stay hold what they should */
};

/* executor-region.c */
/** Loads what the executable's control runs, once its own commands are written. */
gboolean _gantry_executor_load_regions (GantryExecutor *executor, GCancellable *cancellable, GError **error);
void _gantry_executor_free_regions (GantryExecutor *executor);
/** Bytes of constants that regions of @executable allocate on the device of @executor. */
guint64 _gantry_executor_region_bytes (const GantryExecutor *executor, const GantryExecutable *executable);
/** Is it the host that carries @instruction out, while all queues are idle? */
static inline gboolean
_gantry_instruction_is_of_host (const GantryInstruction *instruction)
{
  return instruction->kind == GANTRY_INSTRUCTION_CONTROL || instruction->kind == GANTRY_INSTRUCTION_HOST_CALL;
}
/** Carries out one instruction of control, or a host call, while all queues are idle; its stamp is set where @timed, or outside of regions. */
gboolean _gantry_executor_run_control (GantryExecutor *executor, guint32 instruction, gboolean timed, GCancellable *cancellable, GError **error);

/* executor-host-call.c */
/** Asks who answers host calls; the device is idle. An error names the node. */
gboolean _gantry_executor_call_host (GantryExecutor *executor, guint32 instruction, GError **error);

/* executor.c */
/** One instruction by itself. */
gboolean _gantry_executor_run_one (GantryExecutor *executor, guint32 instruction, GCancellable *cancellable, GError **error);
/** All commands, and control between them. */
gboolean _gantry_executor_run_queues (GantryExecutor *executor, gboolean timed, GCancellable *cancellable, GError **error);

/* executor-counted.c */
/** Before anything is loaded: asks the driver what is free. */
void _gantry_executor_note_free (GantryExecutor *executor);
/** After a run on a device that is not the host: what its driver says of it becomes the measure, none where it does not say. */
void _gantry_executor_count_by_driver (GantryExecutor *executor);

/* executor-check.c */
/** @host: kernels run by their `func` */
gboolean _gantry_executor_check (const GantryExecutable *executable, gboolean host, GError **error);

/* executor-load.c */
gboolean _gantry_executor_allocate (GantryExecutor *executor, GError **error);
/** Constants alone: those of a region, whose other addresses are its control's. */
gboolean _gantry_executor_allocate_constants (GantryExecutor *executor, GError **error);
/** What is in the constants goes there, once all addresses are known. */
gboolean _gantry_executor_upload_literals (GantryExecutor *executor, GError **error);
/** Where a buffer outside of the arenas lies. */
void *_gantry_executor_constant_address (const GantryExecutor *executor, guint32 buffer);
void _gantry_executor_index_places (GantryExecutor *executor);
gboolean _gantry_executor_make_commands (GantryExecutor *executor, GError **error);
gboolean _gantry_executor_initialise (GantryExecutor *executor, GCancellable *cancellable, GError **error);
/** Once all is loaded: lets go of the pages of files whose numbers were copied, packed or computed with, and that no run reads. The system
 *  maps pages ahead, so that they are there again whenever something beside them was read. */
void _gantry_executor_give_back (const GantryExecutor *executor);
/** The command for one instruction. */
GantryCommand _gantry_executor_command (GantryExecutor *executor, guint32 instruction);

/* executor-steps.c */
/** Finds out which inputs can keep what they hold from run to run. */
void _gantry_executor_find_stays (GantryExecutor *executor);
/** Is @buffer one of those that hold the result donated to input @input? */
gboolean _gantry_executor_is_donated (const GantryExecutor *executor, guint32 input, guint32 buffer);
/** May @input be left as it is for the next run? */
gboolean _gantry_executor_check_stays (const GantryExecutor *executor, guint input, GError **error);
/** Brings what the last run donated to the inputs without data there, where it does not lie there already; notes
 *  their places as kept. */
gboolean _gantry_executor_carry (GantryExecutor *executor, const GantryRunInput *inputs, GError **error);

/* executor-bind.c */
/** Lists where addresses of the places are written down that @bindable (by place) says. */
void _gantry_executor_find_slots (GantryExecutor *executor, const guint8 *bindable);
/** From now on @place lies at @address. @lent: that is memory of the caller */
void _gantry_executor_move_place (GantryExecutor *executor, guint32 place, guint8 *address, gboolean lent);
/** Finds out which inputs and results can lie where the caller has them, once the commands are written. */
void _gantry_executor_find_bindings (GantryExecutor *executor);
/** Before a run: lets the commands use the caller's memory where that can be. */
void _gantry_executor_bind (GantryExecutor *executor, const GantryRunInput *inputs, const GantryRunOutput *outputs);

/* executor-races.c */
/** Does every instruction wait for those on other queues whose bytes it reads or writes? */
gboolean _gantry_executor_check_races (const GantryExecutor *executor, GError **error);
/** Is buffer @k of the instruction one that it writes? */
gboolean _gantry_executor_writes (const GantryExecutor *executor, const GantryInstruction *instruction, guint32 k);

/* executor-observe.c */
void _gantry_executor_time_steps (GantryExecutor *executor);
/** Tells @observer the run whose stamps stand in the executor, with the memory that was measured. */
void _gantry_executor_tell (GantryExecutor *executor, const GantryObserver *observer, gint64 begin, gint64 end);
/** A run without stamps was finished: all that it did is said to have lasted from @begin to @end. */
void _gantry_executor_assume_stamps (GantryExecutor *executor, gint64 begin, gint64 end);

/* executor.c */
/** Copies those inputs that have data into their places. */
gboolean _gantry_executor_upload (GantryExecutor *executor, const GantryRunInput *inputs, GError **error);

/* executor-measure.c */
gboolean _gantry_executor_run_measured (GantryExecutor *executor, const GantryRunInput *inputs, GCancellable *cancellable, GError **error);

/* executor-verify.c */
gboolean _gantry_executor_run_checked (GantryExecutor *executor, const GantryRunInput *inputs, GCancellable *cancellable, GError **error);

static inline guint64
whole_place (guint64 size)
{
  return (size + PLACE_ALIGNMENT - 1) / PLACE_ALIGNMENT * PLACE_ALIGNMENT;
}

/** "'relu1' (6.0 MiB)" (transfer full) */
char *_gantry_executor_describe (const GantryExecutable *executable, guint32 buffer);
