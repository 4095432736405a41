"""Talks to MariaDB with MySQL's own connector, and prints what each call was: when it began and ended (nanoseconds of
CLOCK_MONOTONIC), the classes of the exchanges that it consists of, and the error that ended it.
"""

import sys
import time

import mysql.connector

port, rounds = int(sys.argv[1]), int(sys.argv[2])


def call(classes, function, *arguments):
    result, error = None, ""
    before = time.monotonic_ns()
    try:
        result = function(*arguments)
    except mysql.connector.Error as failure:
        error = str(failure.errno)
    calls.append((before, time.monotonic_ns(), classes, error))
    return result


def prepared(statement, rounds, classes, values):
    cursor = call("PING", lambda: connection.cursor(prepared=True))
    for number in range(rounds):
        first = "PREPARE+" if number == 0 else ""
        call(f"{first}RESET STATEMENT+{classes}", cursor.execute, statement, values(number))
        if cursor.with_rows:
            cursor.fetchall()
    cursor.close()


calls = []
connection = mysql.connector.connect(
    host="127.0.0.1",
    port=port,
    user="root",
    use_pure=True,
    ssl_disabled=True,
    collation="utf8mb4_general_ci",
)
begun = time.monotonic_ns()
plain = call("PING", lambda: connection.cursor(buffered=True))
for statement, classes in [
    ("CREATE DATABASE shop", "CREATE"),
    ("USE shop", "USE"),
    ("CREATE TABLE things (number INT PRIMARY KEY, name VARCHAR(20))", "CREATE"),
    ("SELECT * FROM nothing", "SELECT nothing"),
    ("SELEC", ""),
]:
    call(classes, plain.execute, statement)
prepared("INSERT INTO things VALUES (%s, %s)", rounds, "INSERT things", lambda number: (number, "thing"))
prepared("SELECT name FROM things WHERE number = %s", rounds, "SELECT things", lambda number: (number,))
for number in range(rounds):
    # At the first value that it has to write down, the connector asks for the server's mode.
    mode = "PING++" if number == 0 else ""
    call(f"{mode}SELECT things", plain.execute, "SELECT name FROM things WHERE number = %s", (number,))
    call("INSERT things", plain.execute, "INSERT INTO things VALUES (%s, 'twice')", (number,))
connection.close()
print(begun)
for before, after, classes, error in calls:
    print(before, after, error or "-", classes)
