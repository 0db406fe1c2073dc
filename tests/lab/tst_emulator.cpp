// SPDX-License-Identifier: GPL-3.0-or-later
#include "lab/common/lab_error.h"
#include "lab/model/bfloat16.h"
#include "lab/simt/emulated.h"
#include "lab/simt/emulator.h"

#include <QTest>

#include <array>
#include <functional>
#include <vector>

using namespace kerf::lab;

class TestEmulator : public QObject {
    Q_OBJECT
private slots:
    void multipliesMatrices();
    void shufflesAmongAWarp();
    void namedBarriersHoldAllThreads();
    void copiesLandBeforeTheirBarrierOpens();
    void ringsAndEventsPassData();
    void faultsAreNamed_data();
    void faultsAreNamed();
};

/// Whole numbers are exact in bfloat16 and in the sums: A (16 × 16) times B (16 × 8).
void TestEmulator::multipliesMatrices() {
    const auto a = [](unsigned row, unsigned k) {
        return static_cast<int>((row * 7 + k * 3) % 11) - 5;
    };
    const auto b = [](unsigned k, unsigned column) {
        return static_cast<int>((k * 5 + column) % 9) - 4;
    };
    std::array<std::array<float, 8>, 16> result{};
    simt::runGrid({1, 32, 0}, 3, [&](std::byte*) {
        const unsigned g = simt::threadIndex() / 4;
        const unsigned t = simt::threadIndex() % 4 * 2;
        const auto pairA = [&](unsigned row, unsigned k) {
            return packPair(static_cast<float>(a(row, k)), static_cast<float>(a(row, k + 1)));
        };
        const auto pairB = [&](unsigned k) {
            return packPair(static_cast<float>(b(k, g)), static_cast<float>(b(k + 1, g)));
        };
        float sum[4] = {0, 0, 0, 0};
        simt::multiplyTile(sum, pairA(g, t), pairA(g + 8, t), pairA(g, t + 8), pairA(g + 8, t + 8),
                           pairB(t), pairB(t + 8));
        result[g][t] = sum[0];
        result[g][t + 1] = sum[1];
        result[g + 8][t] = sum[2];
        result[g + 8][t + 1] = sum[3];
    });
    for (unsigned row = 0; row < 16; ++row) {
        for (unsigned column = 0; column < 8; ++column) {
            int expected = 0;
            for (unsigned k = 0; k < 16; ++k) {
                expected += a(row, k) * b(k, column);
            }
            QCOMPARE(result[row][column], static_cast<float>(expected));
        }
    }
}

void TestEmulator::shufflesAmongAWarp() {
    std::array<std::uint32_t, 64> swapped{};
    std::array<std::uint32_t, 64> third{};
    std::array<float, 64> sums{};
    simt::runGrid({1, 64, 0}, 1, [&](std::byte*) {
        const unsigned thread = simt::threadIndex();
        swapped[thread] = simt::shuffleXor(thread, 5U);
        third[thread] = simt::shuffle(thread * 2, 3);
        float sum = static_cast<float>(thread);
        for (unsigned mask = 1; mask < 32; mask *= 2) {
            sum += simt::shuffleXor(sum, mask);
        }
        sums[thread] = sum;
    });
    for (unsigned thread = 0; thread < 64; ++thread) {
        QCOMPARE(swapped[thread], thread ^ 5U);
        QCOMPARE(third[thread], (thread / 32 * 32 + 3) * 2);
        QCOMPARE(sums[thread],
                 thread < 32 ? 496.0F : 496.0F + 32 * 32); // 0 + … + 31, and 32 more each
    }
}

void TestEmulator::namedBarriersHoldAllThreads() {
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::array<unsigned, 2> arrived{};
        bool early = false;
        simt::runGrid({2, 96, 0}, seed, [&](std::byte*) {
            if (simt::threadIndex() >= 64) {
                return; // not at this barrier
            }
            ++arrived[simt::blockIndex()];
            simt::syncThreads(1, 64);
            early |= arrived[simt::blockIndex()] != 64;
        });
        QVERIFY(!early);
    }
}

void TestEmulator::copiesLandBeforeTheirBarrierOpens() {
    alignas(16) std::array<std::uint32_t, 64> source{};
    for (unsigned i = 0; i < 64; ++i) {
        source[i] = i + 1;
    }
    bool sawNothing = false;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        std::array<std::uint32_t, 64> seen{};
        const auto counts = simt::runGrid({1, 64, 512}, seed, [&](std::byte* shared) {
            auto* values = reinterpret_cast<std::uint32_t*>(shared);
            auto* barrier = reinterpret_cast<std::uint64_t*>(shared + 256);
            const unsigned thread = simt::threadIndex();
            if (thread == 0) {
                simt::initBarrier(barrier, 1);
            }
            simt::syncThreads(0, 64);
            if (thread == 0) {
                simt::arriveExpecting(barrier, 256);
                simt::bulkCopy(values, source.data(), 128, barrier);
                simt::bulkCopy(values + 32, source.data() + 32, 128, barrier);
                sawNothing |= values[0] == 0xffffffffU;
            }
            simt::waitPhase(barrier, 0, nullptr);
            seen[thread] = values[thread];
        });
        QCOMPARE(counts.copies, std::uint64_t{2});
        QVERIFY(std::equal(seen.begin(), seen.end(), source.begin()));
    }
    QVERIFY(sawNothing); // who does not wait reads NaN, not the data
}

/// A block passes numbers to another through a two-slot ring and counters in memory.
void TestEmulator::ringsAndEventsPassData() {
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
        unsigned written = 0;
        unsigned read = 0;
        std::array<unsigned, 2> ring{};
        std::vector<unsigned> got;
        simt::runGrid({2, 32, 0}, seed, [&](std::byte*) {
            if (simt::threadIndex() != 0) {
                return;
            }
            for (unsigned i = 0; i < 9; ++i) {
                if (simt::blockIndex() == 0) {
                    simt::waitAtLeast(&read, i < 2 ? 0 : i - 1, nullptr);
                    ring[i % 2] = i * i;
                    simt::addRelease(&written, 1U);
                } else {
                    simt::waitAtLeast(&written, i + 1, nullptr);
                    got.push_back(ring[i % 2]);
                    simt::addRelease(&read, 1U);
                }
            }
        });
        QCOMPARE(got, (std::vector<unsigned>{0, 1, 4, 9, 16, 25, 36, 49, 64}));
    }
}

Q_DECLARE_METATYPE(std::function<void(std::byte*)>)

void TestEmulator::faultsAreNamed_data() {
    using Kernel = std::function<void(std::byte*)>;
    QTest::addColumn<Kernel>("kernel");
    QTest::addColumn<QString>("says");
    static unsigned never = 0;
    QTest::newRow("an event that never comes")
        << Kernel([](std::byte*) { simt::waitAtLeast(&never, 1, nullptr); })
        << "64 of block 0: an event";
    QTest::newRow("a barrier that one warp misses") << Kernel([](std::byte*) {
        if (simt::threadIndex() < 32) {
            simt::syncThreads(0, 64);
        }
    }) << "32 of block 0: a named barrier";
    QTest::newRow("lanes apart") << Kernel([](std::byte*) {
        if (simt::threadIndex() % 2 == 0) {
            simt::syncWarp();
        } else {
            simt::shuffleXor(1U, 1U);
        }
    }) << "different warp-wide calls";
    QTest::newRow("a lane that left") << Kernel([](std::byte*) {
        if (simt::threadIndex() != 7) {
            simt::syncWarp();
        }
    }) << "31 of block 0: a warp-wide call";
    QTest::newRow("a copy that is not aligned") << Kernel([](std::byte* shared) {
        if (simt::threadIndex() == 0) {
            simt::initBarrier(reinterpret_cast<std::uint64_t*>(shared), 1);
            simt::bulkCopy(shared + 20, shared + 64, 16, reinterpret_cast<std::uint64_t*>(shared));
        }
    }) << "not aligned to 16";
    QTest::newRow("one arrival too many") << Kernel([](std::byte* shared) {
        auto* barrier = reinterpret_cast<std::uint64_t*>(shared);
        if (simt::threadIndex() == 0) {
            simt::initBarrier(barrier, 2);
            simt::arriveExpecting(barrier, 16);
            simt::arrive(barrier);
            simt::arrive(barrier);
        }
    }) << "more arrivals";
    QTest::newRow("a barrier never initialised")
        << Kernel([](std::byte* shared) { simt::arrive(reinterpret_cast<std::uint64_t*>(shared)); })
        << "before initBarrier";
}

void TestEmulator::faultsAreNamed() {
    QFETCH(std::function<void(std::byte*)>, kernel);
    QFETCH(QString, says);
    try {
        simt::runGrid({1, 64, 256}, 1, kernel);
        QFAIL("no fault was found");
    } catch (const LabError& error) {
        QVERIFY2(QString(error.what()).contains(says), error.what());
    }
}

QTEST_MAIN(TestEmulator)
#include "tst_emulator.moc"
