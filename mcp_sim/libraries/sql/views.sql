-- information_schema.tables
SELECT 'main' AS table_catalog, 'public' AS table_schema, name AS table_name,
    CASE type WHEN 'table' THEN 'BASE TABLE' ELSE 'VIEW' END AS table_type
FROM main.sqlite_master
WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%';

-- information_schema.columns
SELECT 'main' AS table_catalog, 'public' AS table_schema, t.name AS table_name, c.name AS column_name,
    c.cid + 1 AS ordinal_position, c.dflt_value AS column_default,
    CASE c."notnull" WHEN 1 THEN 'NO' ELSE 'YES' END AS is_nullable, lower(c.type) AS data_type,
    CASE c.pk WHEN 0 THEN '' ELSE 'PRI' END AS column_key
FROM main.sqlite_master t, pragma_table_info(t.name) c
WHERE t.type IN ('table', 'view') AND t.name NOT LIKE 'sqlite_%';

-- information_schema.pg_tables
SELECT 'public' AS schemaname, name AS tablename, 'main' AS tableowner
FROM main.sqlite_master
WHERE type = 'table' AND name NOT LIKE 'sqlite_%';
