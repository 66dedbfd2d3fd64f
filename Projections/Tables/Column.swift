internal import Events

/// Visits the columns of a table in order: a writer of rows takes their values, a list of columns
/// only their names and types.
///
/// A column is declared once, as a call with its name and its value in a row; DDL, COPY and comments
/// follow from it. Calls are inlined, so a row is written as fast as by a list of statements, which
/// closures are not: they took five times as long.
protocol ColumnVisitor: ~Copyable {
    /// Visits a column; a type replaces that of the value.
    mutating func callAsFunction<Value: StoredValue>(
        _ name: String,
        type: String,
        _ value: @autoclosure () -> Value
    )
}

extension ColumnVisitor where Self: ~Copyable {
    /// Visits a column, which has the type of its value, and is NOT NULL unless that is optional.
    @inline(__always)
    mutating func callAsFunction<Value: StoredValue>(
        _ name: String,
        _ value: @autoclosure () -> Value
    ) {
        self(name, type: Value.sqlType, value())
    }
}

extension RowWriter: ColumnVisitor {
    @inline(__always)
    mutating func callAsFunction<Value: StoredValue>(
        _ name: String,
        type: String,
        _ value: @autoclosure () -> Value
    ) {
        value().write(to: &self)
    }
}

/// The names and types of columns.
struct ColumnList: ColumnVisitor {
    private(set) var columns: [(name: String, type: String)] = []

    mutating func callAsFunction<Value: StoredValue>(
        _ name: String,
        type: String,
        _ value: @autoclosure () -> Value
    ) {
        columns.append((name, "\(type) \(Value.isOptional ? "NULL" : "NOT NULL")"))
    }
}

/// A value that a column stores.
protocol StoredValue {
    static var sqlType: String { get }
    static var isOptional: Bool { get }
    func write(to writer: inout RowWriter)
}

extension StoredValue {
    static var isOptional: Bool { false }
}

// Compared by bytes.
extension String: StoredValue {
    static var sqlType: String { "text COLLATE \"C\"" }
    func write(to writer: inout RowWriter) { writer.text(self) }
}

extension [String]: StoredValue {
    static var sqlType: String { "text[] COLLATE \"C\"" }
    func write(to writer: inout RowWriter) { writer.texts(self) }
}

extension Int64: StoredValue {
    static var sqlType: String { "bigint" }
    func write(to writer: inout RowWriter) { writer.integer(self) }
}

// Clamped to the range of an `integer`.
extension Int: StoredValue {
    static var sqlType: String { "integer" }
    func write(to writer: inout RowWriter) { writer.int32(self) }
}

extension Bool: StoredValue {
    static var sqlType: String { "boolean" }
    func write(to writer: inout RowWriter) { writer.boolean(self) }
}

extension Instant: StoredValue {
    static var sqlType: String { "timestamptz" }
    func write(to writer: inout RowWriter) { writer.timestamp(self) }
}

extension Optional: StoredValue where Wrapped: StoredValue {
    static var sqlType: String { Wrapped.sqlType }
    static var isOptional: Bool { true }

    @inline(__always)
    func write(to writer: inout RowWriter) {
        if let self { self.write(to: &writer) } else { writer.null() }
    }
}
