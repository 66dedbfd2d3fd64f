#ifndef SUBLEDGER_CPOSTGRES_SHIM_H
#define SUBLEDGER_CPOSTGRES_SHIM_H

#include <libpq-fe.h>

/* The PG_DIAG_* macros are character literals, which Swift does not import. */
static const int subledger_diag_severity = PG_DIAG_SEVERITY_NONLOCALIZED;
static const int subledger_diag_sqlstate = PG_DIAG_SQLSTATE;
static const int subledger_diag_message_primary = PG_DIAG_MESSAGE_PRIMARY;
static const int subledger_diag_message_detail = PG_DIAG_MESSAGE_DETAIL;
static const int subledger_diag_message_hint = PG_DIAG_MESSAGE_HINT;
static const int subledger_diag_table_name = PG_DIAG_TABLE_NAME;
static const int subledger_diag_column_name = PG_DIAG_COLUMN_NAME;
static const int subledger_diag_constraint_name = PG_DIAG_CONSTRAINT_NAME;

#endif
