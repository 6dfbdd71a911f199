package dev.pgapply.it.demo;

import dev.pgapply.it.support.Database;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;

/** A small shop's database and its customers, who order, pay and change their minds on threads of their own. */
final class Shop {

    private static final String[] TABLES = {
        "CREATE TABLE customer(id bigint PRIMARY KEY, name text NOT NULL, email text UNIQUE, credit numeric(12,2) NOT NULL)",
        "CREATE TABLE product(sku text PRIMARY KEY, title text NOT NULL, price numeric(10,2) NOT NULL, description text)",
        "CREATE TABLE \"order\"(id bigint PRIMARY KEY, customer bigint NOT NULL, placed timestamptz NOT NULL, state text NOT NULL)",
        "CREATE TABLE order_line(\"order\" bigint, line int, sku text NOT NULL, quantity int NOT NULL,"
                + " PRIMARY KEY (\"order\", line))",
        "CREATE TABLE payment(id bigint PRIMARY KEY, \"order\" bigint NOT NULL, amount numeric(12,2) NOT NULL)",
        "CREATE TABLE visit(at timestamptz NOT NULL, customer bigint, page text, detail jsonb)",
        "ALTER TABLE visit REPLICA IDENTITY FULL"
    };

    private static final long ORDERS = 50_000;
    private static final int CUSTOMERS = 5_000;
    private static final int PRODUCTS = 1_000;
    private static final int VISITS = 100_000;

    /** How many rows it opens with; each order has three lines and a payment. */
    static final long ROWS = CUSTOMERS + PRODUCTS + 5 * ORDERS + VISITS;

    private final Database database;
    private final AtomicLong orders = new AtomicLong(ORDERS);
    private final AtomicLong transactions = new AtomicLong();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    Shop(Database database) {
        this.database = database;
    }

    /** Creates the tables here and, empty, on the other side; then fills them here. */
    void open(Database target) {
        target.execute(TABLES);
        database.execute(TABLES);
        database.execute(
                "INSERT INTO customer SELECT g, 'Customer ' || g, 'c' || g || '@example.com', 100 FROM generate_series(1, "
                        + CUSTOMERS + ") g",
                "INSERT INTO product SELECT 'P' || g, 'Product ' || g, g % 90 + 9.99, repeat(md5(g::text), 80) FROM"
                        + " generate_series(1, " + PRODUCTS + ") g",
                "INSERT INTO \"order\" SELECT g, g % " + CUSTOMERS
                        + " + 1, now() - g * interval '1 minute', 'delivered' FROM generate_series(1, " + ORDERS
                        + ") g",
                "INSERT INTO order_line SELECT g, l, 'P' || ((g * 7 + l) % " + PRODUCTS
                        + " + 1), l FROM generate_series(1, " + ORDERS + ") g, generate_series(1, 3) l",
                "INSERT INTO payment SELECT g, g, 29.97 FROM generate_series(1, " + ORDERS + ") g",
                "INSERT INTO visit SELECT now(), g % " + CUSTOMERS + " + 1, '/', NULL FROM generate_series(1, " + VISITS
                        + ") g",
                "CREATE PUBLICATION shop_pub FOR ALL TABLES");
    }

    /** Lets this many customers in. */
    void start(int customers, long seed) {
        for (int i = 0; i < customers; i++) {
            Random random = new Random(seed + i);
            Thread thread = new Thread(() -> visit(random), "customer-" + i);
            thread.setDaemon(true);
            threads.add(thread);
            thread.start();
        }
    }

    private void visit(Random random) {
        try (Connection connection = database.connect();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            while (!closed) {
                buy(statement, random);
                connection.commit();
                transactions.incrementAndGet();
            }
        } catch (SQLException e) {
            System.out.println("a customer left: " + e.getMessage());
        }
    }

    private void buy(Statement statement, Random random) throws SQLException {
        long order = orders.incrementAndGet();
        int customer = 1 + random.nextInt(CUSTOMERS);
        int lines = 1 + random.nextInt(4);
        statement.execute(
                "INSERT INTO visit VALUES (clock_timestamp(), " + customer + ", '/product', '{\"n\": " + lines + "}')");
        statement.execute("INSERT INTO \"order\" VALUES (" + order + ", " + customer + ", now(), 'placed')");
        statement.execute("INSERT INTO order_line SELECT " + order + ", l, 'P' || (1 + (l * 31 + " + customer + ") % "
                + PRODUCTS + "), l FROM generate_series(1, " + lines + ") l");
        switch (random.nextInt(6)) {
            case 0 -> {
                statement.execute("DELETE FROM order_line WHERE \"order\" = " + order);
                statement.execute("DELETE FROM \"order\" WHERE id = " + order);
            }
            case 1 ->
                statement.execute(
                        "UPDATE \"order\" SET state = 'delivered' WHERE id = " + (order - 100 - random.nextInt(900)));
            case 2 -> statement.execute("UPDATE order_line SET line = line + 10 WHERE \"order\" = " + order);
            case 3 ->
                statement.execute("DELETE FROM visit WHERE ctid IN (SELECT ctid FROM visit WHERE customer = " + customer
                        + " LIMIT 1 FOR UPDATE SKIP LOCKED)");
            default -> statement.execute("INSERT INTO payment VALUES (" + order + ", " + order + ", 9.99)");
        }
        statement.execute("UPDATE customer SET credit = credit - 1 WHERE id = " + customer);
    }

    /** One large transaction: new prices, and last year's visits; gives the number of rows. */
    long inventory() {
        database.transaction(
                "UPDATE product SET price = price * 1.01",
                "UPDATE \"order\" SET state = 'archived' WHERE id <= " + ORDERS + " AND id % 2 = 0",
                "INSERT INTO visit SELECT clock_timestamp(), g, '/newsletter', '{\"mail\": true}' FROM generate_series(1, 20000) g");
        return PRODUCTS + ORDERS / 2 + 20_000;
    }

    long transactions() {
        return transactions.get();
    }

    /** No more orders; when this returns all customers have left. */
    void close() {
        closed = true;
        for (Thread thread : threads) {
            try {
                thread.join(30_000);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                return;
            }
        }
    }
}
