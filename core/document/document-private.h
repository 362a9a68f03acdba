/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of core/document share: the object's state, what undo keeps, and the loads that worker threads
 * make. */
#pragma once
#include "core/document/document.h"
#include "core/document/forecast-private.h"

G_BEGIN_DECLS

struct sqlite3;

/* Of an error %GANTRY_ERROR_CHANGED: two prefixes and the path of the model. */
#define GANTRY_MODEL_CHANGED "%s%sthe model %s has changed since this session was saved: accept it as it is now, or open the model itself to start anew"

/**
 * GantryState: all that the user can set and take back. Immutable once the document has it, reference counted (on the owning
 * thread alone).
 */
typedef struct
{
  guint ref_count;
  guint64 serial; /* tells the states of one document apart; 0: no document has it yet */
  GantryCompileSettings settings;
  GantryBindings *bindings; /* never changed, only replaced */
  GPtrArray *variants;      /* GantryVariant: likewise */
} GantryState;

/** GantryFront: points of memory and time, and the program (gantry_module_content()) that they were found for. Immutable, reference counted. */
typedef struct
{
  char *program;
  GPtrArray *points; /* GantryVariant: by falling peak */
  gboolean unasked;  /* it was found in the background */
} GantryFront;

GantryFront *_gantry_front_new (const char *program, GPtrArray *points, gboolean unasked);
GantryFront *_gantry_front_ref (GantryFront *front); /* (nullable) */
void _gantry_front_unref (GantryFront *front);       /* (nullable) */

/** What a document held at one moment, of all that a session file keeps: so that it is known what came after. */
typedef struct
{
  guint64 n_changes;
  guint64 serial;             /* of the state */
  guint64 n_others;           /* of changes that undo does not take back */
  guint64 n_files, n_reloads; /* what was open */
} GantryMark;

GantryState *_gantry_state_copy (const GantryState *state); /* (nullable): defaults */
GantryState *_gantry_state_ref (GantryState *state);
void _gantry_state_unref (GantryState *state);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryState, _gantry_state_unref)
/** @bindings: (transfer full) */
void _gantry_state_set_bindings (GantryState *state, GantryBindings *bindings);

typedef struct
{
  char *name;    /* "recompute of 12 values" */
  guint64 merge; /* edits with the same number, not 0, become one while nothing comes between them */
  GantryState *old_state, *new_state;
} GantryEdit;

/** The edits of a document that was recovered. */
typedef struct
{
  GPtrArray *edits; /* GantryEdit */
  guint n_done;
  GantryState *state;
} GantryHistory;
void _gantry_history_free (GantryHistory *history);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryHistory, _gantry_history_free)

/** What a worker makes of a file; installed on the document in one go. */
typedef struct
{
  char *path;          /* as opened */
  char *session_path;  /* (nullable): the .gantry file, when it was one */
  char *session_state; /* (nullable): what the user had set, as the file at @session_path held it when it was read or written */
  char *session_model; /* (nullable): SHA-256 of the model that the file at @session_path is of, likewise */
  char *other_model;   /* (nullable): SHA-256 of the model that is open where the file at @session_path is of another */
  GantryCompilation *compilation;
  GantryCompileSettings settings;
  GPtrArray *runs;          /* GantryRunResult */
  GPtrArray *variants;      /* (nullable): GantryVariant, of a session */
  GantryFront *front;       /* (nullable): likewise */
  GHashTable *names;        /* (nullable): guint64* -> char*: of placed values, by key: likewise */
  char *notes;              /* (nullable) */
  GantryForecast *forecast; /* (nullable) */
  GError *notice;           /* (nullable): what of the file was left out */
  guint n_kept_runs;        /* the first of @runs: those that the file at @session_path holds */
  gboolean reloaded;        /* it is what the file holds now, which may be another model */
  GantryHistory *history;   /* (nullable): of a recovery: nothing of it is in the file at @session_path */
  char *hash, *old_hash;    /* (nullable): of the model and of the one before, where the file was loaded again */
} GantryLoaded;

void _gantry_loaded_free (GantryLoaded *loaded);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (GantryLoaded, _gantry_loaded_free)

/** Work under way: one of each kind at a time. */
typedef enum
{
  GANTRY_JOB_LOAD,    /* opening, compiling */
  GANTRY_JOB_RUN,     /* the child */
  GANTRY_JOB_SOLVE,   /* a search */
  GANTRY_JOB_PLAN,    /* follows each edit; not told as "busy" */
  GANTRY_JOB_DELETE,  /* of a run, out of the session file; cancelled, the file is not made smaller */
  GANTRY_JOB_FIGURES, /* of variants, anew; not told either */
  GANTRY_JOB_SIZES,   /* the child once more, for what kernels need; not told either */
  GANTRY_JOB_FRONT,   /* a search that nobody asked for (document-background.c); not told either */
  GANTRY_N_JOBS
} GantryJob;

/** The front that nobody has asked for. */
typedef struct
{
  guint n_points, quiet_ms; /* 0: none */
  guint source;
  GantryFront *front;    /* (nullable) */
  guint64 basis;         /* of it: GantryDocument.basis */
  GantryChoices *clicks; /* (nullable): likewise */
  double fraction;       /* of the search; -1: none is under way */
  gboolean stopped;      /* by the user, until the next edit */
} GantryBackground;

struct _GantryDocument
{
  GObject parent_instance;
  GantryLoaded *loaded; /* (nullable) before the first open */
  GantryState *state;   /* (nullable) likewise */
  char *notes;
  GantryFront *front; /* (nullable): the last that was searched for */
  char *content;      /* (nullable): of the program that is compiled, once it was asked for */
  GantryBackground background;
  GHashTable *names;    /* (nullable): guint64* -> char*: what placed values are called, by key; never changed, only replaced */
  gboolean names_asked; /* of the program that is planned: what is not called anything is not in it */
  GPtrArray *missing;   /* char*: placements that have no value */
  GPtrArray *recent;    /* GantryCompilation of this file, newest last: what undo goes back to has its ids again, so that runs are of it */
  GPtrArray *edits;     /* GantryEdit: done ones up to n_done, then undone ones */
  guint n_done;
  gboolean mergeable; /* nothing came after the last edit */
  GantryRunResult *run;
  GPtrArray *none;                   /* empty */
  GCancellable *jobs[GANTRY_N_JOBS]; /* (nullable): of the newest of each kind */
  gboolean running[GANTRY_N_JOBS];
  gboolean modified;
  gboolean stale;           /* edited since the compilation was made */
  guint64 n_changes;        /* of what a session file holds */
  guint64 n_others;         /* of these, what undo does not take back; runs are in @unsaved_runs */
  guint64 n_states;         /* serials given */
  guint64 n_files;          /* opened: the session and its edits are of another one */
  guint64 n_models;         /* likewise, and opened again with other sizes or from other bytes */
  guint64 n_reloads;        /* what the files of the model hold may be another model since */
  gboolean embed;           /* saves carry the model along */
  GantryMark kept;          /* what is in the file that was opened, or saved */
  GHashTable *kept_runs;    /* their uids, of the session file */
  GHashTable *unsaved_runs; /* uids of those that are in no file and would be lost */
  GHashTable *deleted_runs; /* uids: what read or gathered the runs before does not bring them back */
  GQueue writes;            /* of document-writes.c: each of them holds a reference to the document */
  gboolean is_writing;
  GHashTable *runs_of_another; /* GantryRunResult: GINT_TO_POINTER (gboolean), as far as asked for, of the compilation */
  double fraction;
  char *activity;
  char *child_id;
  /* What is placed where, and what comes of it (document-placing.c) */
  GantryCompilation *planning; /* (nullable): the compilation, or the same snapshots for another target */
  GantryPlanner *planner;      /* (nullable): of @planning, this thread's */
  GantryPlacements *placements;
  GPtrArray *reports;
  GantryForecast *forecast;
  GantryForecast *known_forecast; /* (nullable): the last one that knew what kernels need */
  guint64 basis;                  /* what figures of variants are of, by number (document-figures.c); 0: nothing was planned yet */
  GantryCompilation *basis_of;    /* (nullable): likewise */
  GHashTable *figures;            /* GantryVariant -> the same with figures of @basis */
  GantryPlan *plan, *refused_plan;
  GError *plan_error;
  GantryPlanChanges *changes; /* (nullable) */
  gboolean has_news;          /* @changes was not told of */
  gboolean planning_now;      /* a thread is at it, wanted or not */
  gpointer next_work;         /* (nullable): begins when that is done */
};

/* The properties, for the files that notify. */
enum
{
  PROP_0,
  PROP_PATH,
  PROP_TITLE,
  PROP_MODIFIED,
  PROP_COMPILATION,
  PROP_RUN,
  PROP_BUSY,
  PROP_PROGRESS,
  PROP_ACTIVITY,
  PROP_CAN_UNDO,
  PROP_CAN_REDO,
  PROP_SETTINGS,
  PROP_PLACEMENTS,
  PROP_PREDICTION,
  PROP_PLAN,
  PROP_PLAN_ERROR,
  PROP_VARIANTS,
  PROP_CHANGES,
  PROP_FRONT,
  PROP_FRONT_PROGRESS,
  N_PROPS
};
void _gantry_document_notify (GantryDocument *document, guint property);
/** Tells what no caller waits for. Nothing when it was cancelled. */
void _gantry_document_tell_error (GantryDocument *document, const char *what, const GError *error);
/** Something that a session file holds was changed. */
void _gantry_document_changed (GantryDocument *document);
void _gantry_document_set_modified (GantryDocument *document, gboolean modified);
GantryMark _gantry_document_mark (GantryDocument *document);
/** Gives @state, which is the document's from now on, its serial. */
void _gantry_document_number_state (GantryDocument *document, GantryState *state);

/* Work */

/** FALSE with %GANTRY_ERROR_UNTRUSTED where opening @path runs a program that the user has not allowed, with %GANTRY_ERROR_CHANGED
 * where it is not @saved and the user has not accepted that. What may run is put into @bindings. @saved: (nullable): the SHA-256 that it has to have;
 * empty: of a session that does not say */
gboolean _gantry_may_run (const char *path, const char *saved, const GantryOpenOptions *options, GantryBindings *bindings, GError **error);
/** Any thread. */
GantryLoaded *_gantry_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error);
/** The session half of it: reads @path, opens its model, compiles and reads the runs. */
GantryLoaded *_gantry_session_load (const char *path, const GantryOpenOptions *options, const GantryProgress *progress, GError **error);
/** A copy of @run, @other_model (nullable) as in GantryRunResult. Results do not change: threads that save read them. (transfer full) */
GantryRunResult *_gantry_run_result_of_model (GantryRunResult *run, const char *other_model);
/** Whether it is an SQLite file, whoever wrote it. */
gboolean _gantry_session_is_session (const char *path);
/** Whether it says that Gantry wrote it. */
gboolean _gantry_session_is_own (const char *path);

/** What a session file is made of. */
typedef struct
{
  GantryCompilation *compilation;
  const GantryCompileSettings *settings;
  GPtrArray *runs;
  GPtrArray *variants;
  GantryFront *front; /* (nullable): that of the file, if any, stays */
  GHashTable *names;  /* (nullable): as of the document */
  const char *notes;
  const GantryBindings *bindings;
  const char *base;       /* (nullable): GantryLoaded.session_state of the file that is written again; NULL: it was not read */
  const char *base_model; /* (nullable): its session_model: the file may become that of another model where it still is of this one */
  gboolean (*also) (struct sqlite3 *db, gpointer data, GError **error); /* (nullable): writes more in the same transaction */
  gpointer also_data;
  gboolean embed;   /* the model's files too */
  gboolean here;    /* it is read on this machine and soon: the model is where it lies, in the user's cache too */
  gboolean replace; /* nothing that the file holds stays, of whatever model it is */
} GantrySessionParts;

/** What a save has found. */
typedef struct
{
  char *state;        /* GantryLoaded.session_state from now on */
  char *model;        /* (nullable): its session_model */
  GPtrArray *others;  /* GantryRunResult: runs in the file that the parts do not have: others have added them */
  GPtrArray *written; /* GantryRunResult: those of the parts, which are in the file now */
} GantrySaved;
void _gantry_saved_clear (GantrySaved *saved);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantrySaved, _gantry_saved_clear)

/**
 * _gantry_session_save:
 * @saved: (out) (optional)
 *
 * Adds to the file at @path in one transaction. Runs that are in the file stay, whoever wrote them; those that it lacks come. What the
 * user has set is written unless nothing of it was changed since @parts->base and somebody else did change it: then theirs
 * stays. Any thread.
 *
 * Returns: FALSE with %GANTRY_ERROR_CONFLICT where both were changed, %GANTRY_ERROR_INVALID where the file is the session of
 *  another model; the file is then as it was
 */
gboolean _gantry_session_save (const char *path, const GantrySessionParts *parts, GantrySaved *saved, GError **error);
/**
 * _gantry_session_load_runs:
 * @known: (nullable) (element-type GantryRunResult): runs that need not be read
 * @model: (nullable): SHA-256 of the model that is open, where it is not that of the file: runs of the file's are of another then
 * @notice: (out) (optional): says which are left out, because they are larger than any that is read, or damaged
 *
 * Returns: (transfer full) (nullable) (element-type GantryRunResult): the other runs of a session file
 */
GPtrArray *_gantry_session_load_runs (const char *path, GPtrArray *known, const char *model, GCancellable *cancellable, GError **notice, GError **error);
/** What kernels need, as a session file says it. (transfer full) (nullable) */
GantryKernelSizes *_gantry_session_load_sizes (const char *path);

/** Installs @loaded (transfer full) on the owning thread. @keep: it is the same file read again, so the edits stay. */
void _gantry_document_install (GantryDocument *document, GantryLoaded *loaded, gboolean keep);
void _gantry_document_set_activity (GantryDocument *document, const char *activity, double fraction);
/** New work of a kind: a new cancellable (transfer none); that of the one before is cancelled. */
GCancellable *_gantry_document_begin_job (GantryDocument *document, GantryJob job);
/** The work is over; nothing when newer work of the kind has begun since. Returns: whether it was the newest. */
gboolean _gantry_document_end_job (GantryDocument *document, GantryJob job, GCancellable *cancellable);
void _gantry_document_cancel_job (GantryDocument *document, GantryJob job);
/** @mark: what was saved. Nothing where another file is open. */
void _gantry_document_saved (GantryDocument *document, const char *path, const GantryMark *mark, const GantrySaved *saved);
/** What writes into a session file, once all that was asked for before has ended and its callback has run. @begin: then, on the owning
 * thread; @thread: of the worker */
void _gantry_document_write (GantryDocument *document, GTask *task, void (*begin) (GTask *task), GTaskThreadFunc thread);
void _gantry_document_set_child_id (GantryDocument *document, const char *id);

/** A few compilations of the same model are kept, one of each program, that undo goes back to; NULL: of another model none is. */
void _gantry_document_remember (GantryDocument *document, GantryCompilation *compilation);
/** As recompile_async for an edit: what goes wrong is told by signal. */
void _gantry_document_refresh (GantryDocument *document);

/* Runs */

/** Those of @loaded, which is another file. */
void _gantry_document_begin_runs (GantryDocument *document, const GantryLoaded *loaded);
/** The session file holds @run. */
void _gantry_document_keep_run (GantryDocument *document, const GantryRunResult *run);
/** Runs that others have added to the session file: they are in it, so nothing is modified by them. @runs: (nullable) */
void _gantry_document_take_runs (GantryDocument *document, GPtrArray *runs);
/** For a thread: the document's list changes. (transfer full) (element-type GantryRunResult) */
GPtrArray *_gantry_document_copy_runs (GantryDocument *document);
/** The runs of @loaded, whose model was loaded again over that of @old, become runs of the one that ran. */
void _gantry_document_part_runs (GantryLoaded *loaded, const GantryLoaded *old);
/** Shows a run of the program where the one that is shown is none of it. */
void _gantry_document_choose_run (GantryDocument *document);

/* Edits */

/** One edit: @state (transfer full) takes the place of the one before. @merge: as GantryEdit. */
void _gantry_document_edit (GantryDocument *document, GantryState *state, const char *name, guint64 merge);
/** The model could not be opened with the bindings of the state: they are again those of the model that is open. */
void _gantry_document_give_up_bindings (GantryDocument *document);
void _gantry_document_forget_edits (GantryDocument *document);
/** The edits and the state of a document that was recovered take the place of those that the file brought. */
void _gantry_document_take_history (GantryDocument *document, GantryHistory *history);
void _gantry_edit_free (gpointer edit);
/** What the kernels of a program need, in @state and in all states of @edits (element-type GantryEdit). */
void _gantry_states_take_sizes (GantryState *state, GPtrArray *edits, GantryKernelSizes *sizes);

/* Placing */

/** Takes over what a new compilation brings. */
void _gantry_document_take_plan (GantryDocument *document, GantryLoaded *loaded);
/** The bytes that @part of the peak of keeping everything is, as far as that is known. */
guint64 _gantry_limit_of_part (GantryPlanner *planner, double part);
/** Where the limit of @settings is a part: in bytes now, and @compilation (inout) planned again where that is another than before. Any
 * thread. Returns: FALSE with @error, cancelled; @compilation is as it was */
gboolean _gantry_limit_settle (GantryCompilation **compilation, GantryCompileSettings *settings, const GantryProgress *progress, GError **error);
/** The same of the document, where another program or other needs of its kernels are known now. Does not plan. */
void _gantry_document_follow_limit (GantryDocument *document);
/** What the placements of @compilation come to. Any thread. Returns: (transfer full) (nullable): NULL where nothing can be predicted */
GantryForecast *_gantry_document_forecast (GantryCompilation *compilation, const GantryProgress *progress);
/** The state has other placements or another target: predicts, and plans on a worker thread. */
void _gantry_document_place (GantryDocument *document);
void _gantry_document_clear_placing (GantryDocument *document);

/** @next, with @forecast, takes the place of what is planned: notes what its times change. Told by the other when all is in place. */
void _gantry_document_take_changes (GantryDocument *document, const GantryCompilation *next, const GantryForecast *forecast);
void _gantry_document_tell_changes (GantryDocument *document);

/* Placements without a value (document-missing.c) */

/** @names: (inout): made where it is NULL; of the caller alone */
void _gantry_names_add (GHashTable **names, guint64 key, const char *name);
const char *_gantry_names_find (GHashTable *names, guint64 key); /* (nullable) both */
/** Remembers what the values are called that are placed, while they are there. Linear where one is new, else in the placements. */
void _gantry_document_name_placed (GantryDocument *document);
/** After placements or program have changed. */
void _gantry_document_find_missing (GantryDocument *document);

/* Variants */

GPtrArray *_gantry_variants_new (void);
GantryVariant *_gantry_variant_new (const char *name);
/** "12.4 MiB, 3.21 ms": of a solution. (transfer full) */
char *_gantry_variant_figures_name (const GantryPlanFigures *figures, guint64 limit);
/** The front that a session file gets: that which was asked for, or where there is none the other one. (transfer none) (nullable) */
GantryFront *_gantry_document_front_to_save (GantryDocument *document);
/** Of the program that is compiled: gantry_module_content(), once for each. (transfer none) */
const char *_gantry_document_content (GantryDocument *document);
/** The choices that are clicks: what binds a search. @choices: (nullable). (transfer full) */
GantryChoices *_gantry_choices_clicked (const GantryChoices *choices);
/** Searches for a front of @n_points on a thread that gives way to all others, as GANTRY_JOB_FRONT. @tell: its progress; @found: on the
 *  owning thread, when it has ended; @points (transfer none) (nullable): NULL: it was cancelled, or found none */
void _gantry_document_search_front (GantryDocument *document, guint n_points, double seconds,
                                    void (*tell) (GantryDocument *document, const char *what, double fraction),
                                    void (*found) (GantryDocument *document, const char *program, GPtrArray *points));
/** Forgets what was found so, with what waits to search for more. */
void _gantry_document_clear_background (GantryDocument *document);
/** @variants: points of a front of @program, or with @program NULL one answer, which takes its place on the front that is drawn */
void _gantry_document_take_front (GantryDocument *document, const char *program, GPtrArray *variants);
/** @planning: what is predicted from now on */
void _gantry_document_follow_basis (GantryDocument *document, GantryCompilation *planning);

/**
 * GantryActivity: progress told from a worker thread, handed to the document in one idle call however often the
 * worker reports.
 */
typedef struct _GantryActivity GantryActivity;
GantryActivity *_gantry_document_activity_new (GantryDocument *document, GCancellable *cancellable);
/** The same of work that nobody waits for: @tell hears of it instead, on the owning thread. */
GantryActivity *_gantry_document_activity_new_for (GantryDocument *document, GCancellable *cancellable,
                                                   void (*tell) (GantryDocument *document, const char *what, double fraction));
const GantryProgress *_gantry_document_activity_progress (GantryActivity *activity);
void _gantry_document_activity_free (GantryActivity *activity);

G_END_DECLS
