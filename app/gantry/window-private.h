/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of the window share. */
#pragma once
#include "app/gantry/window.h"

G_BEGIN_DECLS

struct _GantryWindow
{
  AdwApplicationWindow parent_instance;
  GantryDocument *document;
  GantrySelection *selection;
  char *error;   /* (nullable) */
  char *opening; /* (nullable): path that is being opened */
  guint allowed; /* GANTRY_ALLOW_...: for that opening */
  char *entry;   /* (nullable): which graph of a program that makes several: likewise */
  gboolean running;
  gboolean find_sizes;
  guint n_restored;         /* other windows that hold what was unsaved, of which is told once something is open here */
  gboolean closing;         /* the user has said that the session may go */
  char *next;               /* (nullable): path that is opened once the session is saved */
  GantryRecovery *recovery; /* (nullable): where what is unsaved is kept */
  gboolean keeping, keep_failed, recovering;
  guint keep_source;
  GantryGraphView view_to_show; /* when there is a picture; x: of the middle */
  int frames_to_wait;
  GPtrArray *monitors; /* (nullable): GFileMonitor */
  guint look_source;
  gboolean looking; /* on a thread */
  gboolean reload_when_saved;
  char *changed; /* (nullable): file of the model that is not what it was when it was opened */
  GantryFileIdentity session_seen;
  gconstpointer runs_listed; /* the list that the menu has, and how many of it */
  guint n_runs_listed;
  gconstpointer runs_beside;     /* the compilation of which they were, or were not */
  GtkFileChooserNative *chooser; /* kept alive while it is shown */

  /* Of the template */
  AdwToastOverlay *toasts;
  GtkLabel *target_label, *model_label, *search_count, *loading_label, *error_label;
  GtkMenuButton *model_button, *menu_button;
  GtkStack *run_stack, *stack, *bottom_stack;
  GtkButton *run_button, *cancel_button;
  GtkSpinner *busy_spinner, *loading_spinner;
  GtkSearchEntry *search_entry;
  GtkWidget *search_box;
  GtkProgressBar *progress_bar;
  AdwStatusPage *error_page;
  AdwBin *error_source;
  AdwStatusPage *welcome_page;
  GtkListBox *recent_list;
  GtkPaned *bottom_paned, *left_paned, *right_paned, *source_paned;
  GtkMenuButton *variant_button;
  GtkLabel *variant_label;
  GtkEntry *limit_entry;
  GtkMenuButton *times_button;
  GtkLabel *times_label;
  gboolean replanning; /* the user asked for other times: what they change is shown when it comes */
  char *missing;       /* (nullable): what the notice tells of placements without a value */
  guint64 limit_shown; /* bytes that the entry was filled with */
  GMenu *undo_menu;
  GtkButton *status_button;
  int source_choice;  /* whether the source page is to be seen; 2: nobody has said */
  gboolean arranging; /* it is shown or hidden by the program */
  gboolean outside;   /* the window is arranged for a recording alone */
  gboolean show_step; /* a training step is being made: it is shown when it comes */
  AdwBin *passes_bin, *notice_bin, *graph_bin, *inspector_bin, *source_bin, *time_bin;
  GtkWidget *status_bar;
  GtkLabel *status_peak, *status_time, *status_nodes, *status_message;

  /* Views */
  GantryPassList *pass_list;
  GantryPassView *pass_view;
  GantryInspector *inspector;
  GantrySourcePage *source_page;
  GantryTimePanel *time_panel;
  GantryComparePanel *compare_panel;
  GantryKernelsPanel *kernels_panel;
};

/* window.c */
void _gantry_window_toast (GantryWindow *window, const char *text);
void _gantry_window_update (GantryWindow *window);
/** The program that was just run may run again, as long as it is what it is. */
void _gantry_window_remember_program (GantryWindow *window);
/** Without asking for what is unsaved. @allowed: 0, or the #GantryError that the user allows: of files outside, or of a program */
/** @allowed: what the user has allowed so far, of GANTRY_ALLOW_... */
void _gantry_window_open_now (GantryWindow *window, const char *path, guint allowed);
/** The last pass, in one pane, once the compilation under way has made a training step. */
void _gantry_window_show_step_when_made (GantryWindow *window);

/* window-error.c */
/** Tells an error in a dialog of its own, in full and selectable, with the source where it names a place in the model's. Cancelled work is
 *  no error. */
void _gantry_window_tell (GantryWindow *window, const char *heading, const GError *error);
/** The same of the file at @path (nullable), which may be none that is open. */
void _gantry_window_tell_of (GantryWindow *window, const char *path, const char *heading, const GError *error);
/** The page "error", of the file at @path. */
void _gantry_window_show_error (GantryWindow *window, const char *path, const GError *error);

/* window-actions.c */
void _gantry_window_add_actions (GantryWindow *window);
void _gantry_window_update_actions (GantryWindow *window);

/* window-files.c */
/** Says on the welcome page which files open. */
void _gantry_window_say_formats (GantryWindow *window);
void _gantry_window_choose_open (GantryWindow *window);
/** A folder of XLA's dumps. */
void _gantry_window_choose_folder (GantryWindow *window);
void _gantry_window_save (GantryWindow *window, gboolean ask_where);
/** Which graph of a program that makes several is open. (transfer none) (nullable) */
const char *_gantry_window_graph (GantryWindow *window);
/** For a file chooser: what is open, with @ending. (transfer full) */
char *_gantry_window_propose_name (GantryWindow *window, const char *ending);
void _gantry_window_choose_export (GantryWindow *window);
/** The table of kernels as CSV. */
void _gantry_window_choose_kernels (GantryWindow *window);
void _gantry_window_fill_recent (GantryWindow *window);
void _gantry_window_accept_drops (GantryWindow *window);
gboolean _gantry_window_close_request (GtkWindow *window);
/** Saves, discards or does nothing, as the user says; then opens @path, or closes the window where it is NULL. */
void _gantry_window_ask_unsaved (GantryWindow *window, const char *path);

/* window-allow.c */
enum
{
  GANTRY_ALLOW_OUTSIDE = 1 << 0, /* files outside the model's folder are read */
  GANTRY_ALLOW_PROGRAM = 1 << 1, /* a program runs */
  GANTRY_ALLOW_CHANGED = 1 << 2, /* a session opens with its model as that is now */
};
/** Asks for what @error says that the opening which is under way may not do, and opens again if it may.
 *  @recovery: (nullable): that was opened. Returns: FALSE where it is no question, or was answered already */
gboolean _gantry_window_ask_to_allow (GantryWindow *window, const char *path, GantryRecovery *recovery, const GError *error);
/** Asks which graph of the program at @path is meant where @error lists several, and opens it. Returns: FALSE where it does not */
gboolean _gantry_window_ask_which (GantryWindow *window, const char *path, const GError *error);
/** Notes what is being opened, and with what allowed. @options: (out): for _gantry_open_options_clear() */
void _gantry_window_begin_opening (GantryWindow *window, const char *path, guint allowed, GantryOpenOptions *options);
void _gantry_open_options_clear (GantryOpenOptions *options);

/* window-disk.c */
/** The files of the model and the session file of what is open. */
void _gantry_window_watch_files (GantryWindow *window);
void _gantry_window_stop_watching (GantryWindow *window);
/** Opens the model again as it is now: a program runs. What is selected and shown stays. */
void _gantry_window_reload (GantryWindow *window);
/** The same from now on whenever a file of the model has changed. */
void _gantry_window_reload_when_saved (GantryWindow *window, gboolean reload);
/** (transfer floating): while GantryWindow.changed is set */
GtkWidget *_gantry_window_make_changed_notice (GantryWindow *window);

/* window-recovery.c */
/** What is shown: pass, selection, folds, view, run. (transfer full) */
char *_gantry_window_shown_text (GantryWindow *window);
/** @text: (nullable): of a window on the same model */
void _gantry_window_show_again (GantryWindow *window, const char *text);
/** Opens what @recovery holds, with what the user has allowed so far. */
void _gantry_window_recover_now (GantryWindow *window, GantryRecovery *recovery, guint allowed);
void _gantry_window_start_keeping (GantryWindow *window);
/** What gantry_window_tell_restored() was told, once. */
void _gantry_window_say_restored (GantryWindow *window);
/** @forget: nothing of it is wanted any more. */
void _gantry_window_stop_keeping (GantryWindow *window, gboolean forget);

/* window-run.c */
void _gantry_window_run (GantryWindow *window);
/** Asks the child for what kernels need, where that is not known and somebody wants it. */
void _gantry_window_find_sizes (GantryWindow *window);
/** Returns: (transfer full) (nullable): why nothing can be run now; NULL: it can */
GError *_gantry_window_why_no_run (GantryWindow *window);
/** Runs, or says why not: what the keys do, which no one sees greyed out. */
void _gantry_window_run_or_tell (GantryWindow *window);

/* window-runs.c */
#define GANTRY_MENU_NAME 44u /* most signs of a name in a line of a menu */
/** The runs of the session, where there are several, as a section of @menu. */
/** @text as the label of an item of a menu. (transfer full) */
char *_gantry_window_menu_text (const char *text);
void _gantry_window_append_runs (GantryWindow *window, GMenu *menu);
/** Shows the run whose uid @value is: the state of win.show-run. */
void _gantry_window_choose_run (GSimpleAction *action, GVariant *value, gpointer window);
/** Asks whether the run that is shown is to go. */
void _gantry_window_delete_run (GSimpleAction *action, GVariant *value, gpointer window);
void _gantry_window_update_runs (GantryWindow *window);

/* window-notice.c */
/** Sizes that dimensions lack, and why the program cannot be compiled: a bar above the graph. */
void _gantry_window_update_notice (GantryWindow *window);
/** After the placements have changed: some may have no value. */
void _gantry_window_update_missing (GantryWindow *window);

/* window-place.c */
/** @kind: GantryPlacementKind or GANTRY_PLACEMENT_UNSET, for what @reach says of the selection. */
void _gantry_window_place (GantryWindow *window, int kind, GantryReach reach);
/** "win.place": @parameter: "keep", "recompute", "offload" or "unset", and after a blank "scope", "alike" or "matches". */
void _gantry_window_place_action (GSimpleAction *action, GVariant *parameter, gpointer window);
/** The graph shows the placements and the prediction of the document. */
void _gantry_window_update_placements (GantryWindow *window);

/* window-header.c */
void _gantry_window_connect_header (GantryWindow *window);
void _gantry_window_update_header (GantryWindow *window);
void _gantry_window_fill_variants (GantryWindow *window);
void _gantry_window_load_variant (GantryWindow *window, const char *name);
/** Asks for the name of a new variant, or a new name of the current one. */
void _gantry_window_name_variant (GantryWindow *window, gboolean rename);
void _gantry_window_delete_variant (GantryWindow *window);

/* window-times.c */
/** Plans with the times of the run shown, or with those that the model predicts. */
void _gantry_window_use_times (GantryWindow *window, gboolean measured);
void _gantry_window_connect_times (GantryWindow *window);
/** Whose times the plan is made with, once it is not the model's. */
void _gantry_window_update_times (GantryWindow *window);

/* window-status.c */
void _gantry_window_update_status (GantryWindow *window);
/** In the line at the bottom: what is under way. */
void _gantry_window_show_activity (GantryWindow *window, const char *activity);
/** What the message of the status bar is about, in full. */
void _gantry_window_show_problems (GantryWindow *window);

/* window-search.c */
void _gantry_window_connect_search (GantryWindow *window);
void _gantry_window_search_step (GantryWindow *window, int step);

/* window-layout.c */
void _gantry_window_restore_layout (GantryWindow *window);
void _gantry_window_store_layout (GantryWindow *window);
void _gantry_window_maximize_time (GantryWindow *window, gboolean maximize);
/** The selection in the lanes. */
void _gantry_window_show_in_time (GantryWindow *window);
/** Shows the source page beside a program, and no other model, where the user has never said. */
void _gantry_window_arrange_source (GantryWindow *window);
/** The source page, at what is selected; the keyboard goes there. */
/** Where the header has room for it. */
void _gantry_window_show_target (GantryWindow *window);
void _gantry_window_show_source (GantryWindow *window);
/** The page has a source to show, or no longer: it has another width then. */
void _gantry_window_source_found (GantryWindow *window);
/** @page: "time", "kernels" or "compare"; the panel at the bottom is shown with it. */
void _gantry_window_show_bottom (GantryWindow *window, const char *page);

G_END_DECLS
