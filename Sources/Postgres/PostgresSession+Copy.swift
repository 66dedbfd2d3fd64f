extension PostgresSession {
    /// Feeds a `COPY … FROM STDIN` of any format, and returns the number of rows.
    ///
    /// `next` yields chunks of any size until it returns nil; an empty chunk is allowed. What it
    /// throws ends the COPY, which then has no effect, and is thrown on.
    @discardableResult
    public func copyIn<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        from state: State,
        chunks next: @Sendable (inout State) throws(E) -> [UInt8]?
    ) throws(E) -> Int64 {
        let connection = try converting(to: E.self) { () throws(PostgresError) in
            try openConnection()
        }
        var state = state
        return try connection.copyIn(sql, .obeyed) { (buffer) throws(E) in
            guard let chunk = try next(&state) else { return false }
            buffer.append(contentsOf: chunk)
            return true
        }
    }

    /// Feeds a `COPY … FROM STDIN (FORMAT BINARY)` row by row, and returns the number of rows.
    ///
    /// `fill` writes whole rows, at least one, and returns false when there are no more; header and
    /// trailer are written for it. Memory stays near 64 kB plus the rows of one call.
    @discardableResult
    public func copyIn<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        from state: State,
        rows fill: @Sendable (inout State, inout CopyBinaryWriter) throws(E) -> Bool
    ) throws(E) -> Int64 {
        let connection = try converting(to: E.self) { () throws(PostgresError) in
            try openConnection()
        }
        var state = state
        var writer = CopyBinaryWriter()
        return try connection.copyIn(sql, .obeyed) { (buffer) throws(E) in
            let hasMore = try fill(&state, &writer)
            if !hasMore { writer.finish() }
            writer.drain(into: &buffer)
            return hasMore
        }
    }

    /// Folds over the bytes of a `COPY … TO STDOUT`.
    ///
    /// A piece is a whole row with its line break in the formats text and CSV, and cut anywhere in
    /// the binary one; it is valid only during the call. What `fold` throws ends the COPY and is
    /// thrown on; the session survives.
    public func copyOut<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        into state: State,
        _ fold: @Sendable (inout State, UnsafeRawBufferPointer) throws(E) -> Void
    ) throws(E) -> State {
        let connection = try converting(to: E.self) { () throws(PostgresError) in
            try openConnection()
        }
        var state = state
        try connection.copyOut(sql, .obeyed) { (bytes) throws(E) in try fold(&state, bytes) }
        return state
    }

    /// Folds over the rows of a `COPY … TO STDOUT (FORMAT BINARY)`.
    ///
    /// A row is valid only during the call. `protocolViolation` when the bytes are not whole rows.
    public func copyOut<State: Sendable, E: PostgresErrorConvertible>(
        _ sql: String,
        into state: State,
        rows fold: @Sendable (inout State, borrowing CopyBinaryRow) throws(E) -> Void
    ) throws(E) -> State {
        let connection = try converting(to: E.self) { () throws(PostgresError) in
            try openConnection()
        }
        var state = state
        var reader = CopyBinaryReader()
        try connection.copyOut(sql, .obeyed) { (bytes) throws(E) in
            try reader.consume(bytes) { (row) throws(E) in try fold(&state, row) }
        }
        try converting(to: E.self) { () throws(PostgresError) in try reader.finish() }
        return state
    }
}
