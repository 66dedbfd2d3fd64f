#ifndef SUBLEDGER_EMBEDDED_FILES_H
#define SUBLEDGER_EMBEDDED_FILES_H

/// The text of a file that the program carries, by its name without a folder; NULL if there is none.
const char *_Nullable embedded_file(const char *_Nonnull name);

#endif
