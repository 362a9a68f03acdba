/* SPDX-License-Identifier: Apache-2.0 */
/* What the tests of the document share: samples, a main loop that is run until something holds, errors that are
 * counted. */
#pragma once
#include "core/document/document.h"

/** A file of the source tree. (transfer full) */
char *doc_file (const char *path);
/** A new document with data/programs/@name open, as a training step (Adam) when @train; blocking. */
GantryDocument *doc_open (const char *name, gboolean train);
/** Runs the main loop until @document is idle: nothing to compile, plan or run. Fails after a minute. */
void doc_wait (GantryDocument *document);

/** Runs the main loop until @condition holds. Fails after a minute. */
#define doc_wait_until(condition) \
  G_STMT_START \
  { \
    gint64 _until = g_get_monotonic_time () + 60 * G_USEC_PER_SEC; \
    while (!(condition)) \
      { \
        g_assert_cmpint (g_get_monotonic_time (), <, _until); \
        if (!g_main_context_iteration (NULL, FALSE)) \
          g_usleep (500); \
      } \
  } \
  G_STMT_END

/** Residuals of the training step that may be recomputed, by ascending node. (transfer full) (element-type guint32) */
GArray *doc_residuals (GantryDocument *document);
guint doc_last (GantryDocument *document); /* index of the last snapshot */

/** What the signal "error" has told. */
typedef struct
{
  guint n;
  char *what;
  GError *error;
} DocErrors;
void doc_listen (GantryDocument *document, DocErrors *errors);
void doc_errors_clear (DocErrors *errors);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (DocErrors, doc_errors_clear)

/** All that the document shows is of its settings: as a compilation made from them alone. */
void doc_check_consistent (GantryDocument *document);
