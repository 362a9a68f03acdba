/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of the source page share: source-page.c has what is shown of a compilation and the widget, source-page-file.c the file,
 * source-page-lines.c selection and lines. */
#pragma once
#include "views/notice.h"
#include "views/source/source-error.h"
#include "views/source/source-facts.h"
#include "views/source/source-page.h"

G_BEGIN_DECLS

struct _GantrySourcePage
{
  GtkBox parent_instance;
  GantryDocument *document;
  GantrySelection *selection;
  GtkDropDown *chooser;
  GtkStack *stack; /* "text" or "words" */
  GantrySourceView *view;
  GtkLabel *words;
  GantryNotice *note;
  GtkWidget *ask;
  GantrySourceFacts *facts; /* (nullable) */
  GCancellable *making;     /* (nullable) */
  guint snapshot, idle;
  GArray *files;              /* guint32: string ids, as the chooser has them */
  guint32 file;               /* string id: that is shown or being read; 0: none */
  char *path;                 /* (nullable): of @file */
  GCancellable *reading;      /* (nullable) */
  GHashTable *asked;          /* paths outside of the model's folder that the user has asked for */
  char *error;                /* (nullable): message of an error in @file */
  GantrySourcePlaces *places; /* (nullable): of @error */
  guint32 chosen;             /* line that was chosen before its nodes were known, 0: none */
  GtkWidget *chain;           /* other places that lead to the primary node; hidden where there are none */
  GantryLocation jump;        /* that was chosen among them; line 0: none */
  gboolean choosing, filling;
  gboolean has_source; /* as it was told last */
};

/* source-page-file.c */
const GantryModel *_gantry_source_page_model (const GantrySourcePage *self);
/** Instead of a text. @ask: for leave to read it */
void _gantry_source_page_show_words (GantrySourcePage *self, const char *words, gboolean ask);
/** Other places that lead to the primary node. */
void _gantry_source_page_show_chain (GantrySourcePage *self);
/** @file: string id, 0: none. (transfer full) (nullable) */
char *_gantry_source_page_path_of (GantrySourcePage *self, guint32 file);
void _gantry_source_page_stop_reading (GantrySourcePage *self);
void _gantry_source_page_forget_error (GantrySourcePage *self);
void _gantry_source_page_show_file (GantrySourcePage *self, guint32 file);
/** Where the primary node was written; @fallback where it has no place. */
guint32 _gantry_source_page_file_of_selection (GantrySourcePage *self, guint32 fallback);
void _gantry_source_page_file_chosen (GantrySourcePage *self);
void _gantry_source_page_ask_clicked (GantrySourcePage *self);
void _gantry_source_page_selection_changed (GantrySourcePage *self);

/* source-page-lines.c */
/** All lines of the file that what is selected was written in; that of the primary node comes into sight. */
void _gantry_source_page_mark (GantrySourcePage *self);
/** Selects the nodes of @line, and tells so. */
void _gantry_source_page_select_line (GantrySourcePage *self, guint32 line);
/** Whether what is known is of the compilation and the snapshot that are looked at. */
gboolean _gantry_source_page_is_of_now (GantrySourcePage *self);
void _gantry_source_page_line_chosen (GantrySourceView *view, guint line, gpointer data);
/** (transfer full) (nullable): nothing is known of @line */
char *_gantry_source_page_describe_line (GantrySourceView *view, guint line, gpointer data);

G_END_DECLS
