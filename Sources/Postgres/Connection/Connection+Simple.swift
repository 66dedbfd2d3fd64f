import CPostgres

/// Statements in the simple protocol: several in one text, without parameters or rows.
extension Connection {
    /// Runs a text of statements and returns the command tag of the last.
    @discardableResult
    func execute(
        _ sql: String,
        _ cancellation: Cancellation
    ) throws(PostgresError) -> String {
        try PostgresStatement.check(sql)
        try begin(cancellation)
        guard PQsendQuery(handle, sql) == 1 else { throw lost() }
        try flush(cancellation)
        return try finish(cancellation).tag
    }

    /// The result of a text of statements.
    struct Outcome {
        var tag = ""
        var affectedRows: Int64 = 0
        var copyWasSeen = false
    }

    /// Takes all results up to the end, leaving any COPY that a statement started.
    func finish(_ cancellation: Cancellation) throws(PostgresError) -> Outcome {
        var outcome = Outcome()
        var failure: PostgresError?
        while let result = try nextResult(cancellation) {
            switch result.status {
            case .failed:
                failure = failure ?? result.failure
            case .copyIn:
                outcome.copyWasSeen = true
                try endCopyIn(reason: "COPY FROM STDIN is not allowed here", cancellation)
            case .copyOut:
                outcome.copyWasSeen = true
                requestCancel()
                try drainCopyOut(cancellation)
            case .unexpected, .pipelineSync, .pipelineAborted:
                throw lost()
            case .rows, .done:
                outcome.tag = result.commandTag
                outcome.affectedRows = result.affectedRows
            }
            if isBroken { break }
        }

        if outcome.copyWasSeen {
            throw PostgresError(.misuse, "COPY cannot run by execute. Use copyIn or copyOut.")
        }
        if let failure { throw error(failure) }
        if isBroken { throw lost() }
        return outcome
    }
}
