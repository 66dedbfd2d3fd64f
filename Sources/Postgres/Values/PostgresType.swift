/// A type of PostgreSQL by its object identifier, which is fixed for built-in types.
package struct PostgresType: RawRepresentable, Sendable, Hashable {
    /// The object identifier in `pg_type`.
    package let rawValue: UInt32

    /// Names a type by its object identifier.
    package init(rawValue: UInt32) { self.rawValue = rawValue }

    /// The server infers the type.
    package static let inferred = PostgresType(rawValue: 0)
    /// `boolean`.
    package static let bool = PostgresType(rawValue: 16)
    /// `bytea`.
    package static let bytea = PostgresType(rawValue: 17)
    /// `name`.
    package static let name = PostgresType(rawValue: 19)
    /// `bigint`.
    package static let int8 = PostgresType(rawValue: 20)
    /// `smallint`.
    package static let int2 = PostgresType(rawValue: 21)
    /// `integer`.
    package static let int4 = PostgresType(rawValue: 23)
    /// `text`.
    package static let text = PostgresType(rawValue: 25)
    /// `oid`.
    package static let oid = PostgresType(rawValue: 26)
    /// `json`.
    package static let json = PostgresType(rawValue: 114)
    /// `boolean[]`.
    package static let boolArray = PostgresType(rawValue: 1000)
    /// `bytea[]`.
    package static let byteaArray = PostgresType(rawValue: 1001)
    /// `integer[]`.
    package static let int4Array = PostgresType(rawValue: 1007)
    /// `text[]`.
    package static let textArray = PostgresType(rawValue: 1009)
    /// `bigint[]`.
    package static let int8Array = PostgresType(rawValue: 1016)
    /// `character(n)`.
    package static let bpchar = PostgresType(rawValue: 1042)
    /// `character varying`.
    package static let varchar = PostgresType(rawValue: 1043)
    /// `timestamp with time zone`.
    package static let timestamptz = PostgresType(rawValue: 1184)
    /// `uuid`.
    package static let uuid = PostgresType(rawValue: 2950)
    /// `uuid[]`.
    package static let uuidArray = PostgresType(rawValue: 2951)
    /// `jsonb`.
    package static let jsonb = PostgresType(rawValue: 3802)
}
