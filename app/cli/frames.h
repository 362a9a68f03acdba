/* SPDX-License-Identifier: Apache-2.0 */
/* What gantry-cli and `gantry-cli serve` on another machine say to each other, over the standard input and output of a
 * program that a launcher (ssh, srun) started there: frames, each a head of 16 bytes and at most a MiB.
 *
 * Head: "GnFr", kind u32, length u64; little endian. The one who asks sends HELLO, gets HELLO, sends files (FILE, then
 * DATA until its bytes are there) and ARGUMENTS; the other sends PROGRESS as it runs, then the session (FILE, DATA) and
 * DONE, or FAILED. Whatever comes, reading ends in a frame, in the end of the stream or in an error. */
#pragma once
#include <gio/gio.h>

G_BEGIN_DECLS

#define GANTRY_FRAMES_VERSION 1
#define GANTRY_FRAME_HEAD 16
#define GANTRY_FRAME_MOST_BYTES (1u << 20)
#define GANTRY_FRAME_MOST_FILE (G_GUINT64_CONSTANT (1) << 38)
#define GANTRY_FRAME_MOST_ARGUMENTS 256

typedef enum
{
  GANTRY_FRAME_HELLO = 1, /* version of the frames u32, version of Gantry text */
  GANTRY_FRAME_FILE,      /* bytes u64, name: of one file in one folder */
  GANTRY_FRAME_DATA,      /* the next bytes of the file */
  GANTRY_FRAME_ARGUMENTS, /* of the subcommand, each with a final zero */
  GANTRY_FRAME_PROGRESS,  /* a line */
  GANTRY_FRAME_FAILED,    /* exit status u32, what went wrong */
  GANTRY_FRAME_DONE,
} GantryFrameKind;

typedef struct
{
  GantryFrameKind kind;
  GBytes *payload;
} GantryFrame;

void gantry_frame_clear (GantryFrame *frame);
G_DEFINE_AUTO_CLEANUP_CLEAR_FUNC (GantryFrame, gantry_frame_clear)

/**
 * gantry_frame_read:
 * @frame: (out caller-allocates)
 *
 * Returns: FALSE: %GANTRY_ERROR_INVALID for what is no frame (the message shows the first bytes as text: a shell's greeting, most
 *  often), %GANTRY_ERROR_TOO_LARGE, %GANTRY_ERROR_TRUNCATED for a stream that ends, or the stream's error
 */
gboolean gantry_frame_read (GInputStream *stream, GantryFrame *frame, GError **error);
/** @data: (nullable): the @n bytes of the frame, at most %GANTRY_FRAME_MOST_BYTES. Returns: FALSE with the stream's error */
gboolean gantry_frame_write (GOutputStream *stream, GantryFrameKind kind, gconstpointer data, gsize n, GError **error);

/** @version: of this Gantry, for people. Returns: FALSE with the stream's error */
gboolean gantry_frame_write_hello (GOutputStream *stream, const char *version, GError **error);
/** @version: (out) (transfer full): of the other Gantry. Returns: FALSE where the frames are of another version */
gboolean gantry_frame_parse_hello (const GantryFrame *frame, char **version, GError **error);
/** @status: exit status; @message: what went wrong, cut after 64 KiB. Returns: FALSE with the stream's error */
gboolean gantry_frame_write_failed (GOutputStream *stream, int status, const char *message, GError **error);
/** @message: (out) (transfer full) */
gboolean gantry_frame_parse_failed (const GantryFrame *frame, int *status, char **message, GError **error);
/** @arguments: at most %GANTRY_FRAME_MOST_ARGUMENTS */
gboolean gantry_frame_write_arguments (GOutputStream *stream, char *const *arguments, GError **error);
/** (transfer full) (nullable) */
char **gantry_frame_parse_arguments (const GantryFrame *frame, GError **error);
/** @name: (out) (transfer full): letters, digits, and . _ - + = , @ space inside: never a path, and does not begin with a dot or
 *  a dash */
gboolean gantry_frame_parse_file (const GantryFrame *frame, char **name, guint64 *bytes, GError **error);
/** May a file have that name on the way? */
gboolean gantry_frame_is_name (const char *name);

/** Sends the file @path as @name. */
gboolean gantry_frame_send_file (GOutputStream *stream, const char *path, const char *name, GError **error);
/**
 * gantry_frame_receive_file:
 * @frame: the FILE frame
 * @folder: where it is written
 *
 * Reads the DATA frames that belong to it. Returns: (transfer full) (nullable): its path
 */
char *gantry_frame_receive_file (GInputStream *stream, const GantryFrame *frame, const char *folder, GError **error);

G_END_DECLS
