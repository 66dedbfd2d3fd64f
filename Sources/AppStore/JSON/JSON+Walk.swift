extension JSON.Value {
    /// Visits every value inside and passes each member of an object to `visit`.
    ///
    /// The least that any decoder of the text must do; `subledger-bench verify` measures it.
    package func walk(_ visit: (_ name: JSON.Value, _ value: JSON.Value) -> Void) {
        for (name, value) in members {
            visit(name, value)
            if value.isContainer { value.walk(visit) }
        }
        for element in elements where element.isContainer { element.walk(visit) }
    }

    private var isContainer: Bool { kind == .object || kind == .array }
}
