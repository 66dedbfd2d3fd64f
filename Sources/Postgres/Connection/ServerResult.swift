import CPostgres

/// One result of libpq, freed when it goes out of scope.
struct ServerResult: ~Copyable {
    /// libpq's `ExecStatusType` as a closed set.
    enum Status {
        case rows
        case done
        case failed
        case pipelineAborted
        case pipelineSync
        case copyIn
        case copyOut
        case unexpected
    }

    let pointer: OpaquePointer

    init(_ pointer: OpaquePointer) { self.pointer = pointer }

    deinit { PQclear(pointer) }

    /// Passes the pointer to a new owner, which must free it.
    consuming func take() -> OpaquePointer {
        let pointer = self.pointer
        discard self
        return pointer
    }

    var status: Status {
        switch PQresultStatus(pointer) {
        case PGRES_TUPLES_OK, PGRES_SINGLE_TUPLE: .rows
        case PGRES_COMMAND_OK, PGRES_EMPTY_QUERY: .done
        case PGRES_FATAL_ERROR, PGRES_NONFATAL_ERROR, PGRES_BAD_RESPONSE: .failed
        case PGRES_PIPELINE_ABORTED: .pipelineAborted
        case PGRES_PIPELINE_SYNC: .pipelineSync
        case PGRES_COPY_IN: .copyIn
        case PGRES_COPY_OUT: .copyOut
        default: .unexpected
        }
    }

    /// The command's tag, such as `COMMIT`.
    var commandTag: String { String(cString: PQcmdStatus(pointer)) }

    /// The number of rows that the command affected, 0 if none.
    var affectedRows: Int64 { Int64(String(cString: PQcmdTuples(pointer))) ?? 0 }

    /// The server's error; the connection decides whether the session also ended.
    var failure: PostgresError {
        let state = field(subledger_diag_sqlstate)
        let code = state.map { PostgresError.Code.server($0) } ?? .protocolViolation
        var error = PostgresError(code, "The database refused the statement.")
        error.sqlState = state
        error.primaryMessage =
            field(subledger_diag_message_primary)
            ?? String(cString: PQresultErrorMessage(pointer))
        error.detail = field(subledger_diag_message_detail)
        error.hint = field(subledger_diag_message_hint)
        error.constraintName = field(subledger_diag_constraint_name)
        error.tableName = field(subledger_diag_table_name)
        error.columnName = field(subledger_diag_column_name)
        error.message = Self.message(error)
        return error
    }

    private func field(_ code: Int32) -> String? {
        PQresultErrorField(pointer, code).map { String(cString: $0) }
    }

    /// Data exceptions (class 22) quote values in their messages, so these are withheld.
    private static func message(_ error: PostgresError) -> String {
        guard let state = error.sqlState, let primary = error.primaryMessage else {
            return "The database refused the statement without a reason."
        }
        if state.hasPrefix("22") {
            return "The database refused a value. Its message quotes the value and is withheld."
        }
        return "The database refused the statement: \(primary)"
    }
}
