#include "analysis/nest/counts.h"
#include "analysis/nest/dependences.h"
#include "tests/analysis/nest/nests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kernelskill::analysis::testing {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Level = NestCarrier::Level;

/// A kernel's nest and its dependences.
class Judged {
public:
    explicit Judged(ReadNest found) : found_(std::move(found)) {
        Polyhedra polyhedra;
        dependences_ = dependencesOf(found_.nest, polyhedra);
    }

    [[nodiscard]] NestJudgement blocks() const {
        return judge(found_.nest, dependences_, {Level::Blocks, noId});
    }
    [[nodiscard]] NestJudgement threads() const {
        return judge(found_.nest, dependences_, {Level::Threads, noId});
    }
    [[nodiscard]] NestJudgement loop(const std::string& iterator) const {
        return judge(found_.nest, dependences_, {Level::Loop, found_.loopNode(iterator)});
    }
    /// The first dependence that an exchange of the two loops turns around; empty if there is none.
    [[nodiscard]] std::string crossed(const std::string& outer, const std::string& inner) const {
        Polyhedra polyhedra;
        const NestDependences found = crossedDependences(
            found_.nest, polyhedra, found_.loopNode(outer), found_.loopNode(inner));
        return found.dependences.empty() ? std::string{}
                                         : dependenceText(found_.nest, found.dependences.front());
    }
    [[nodiscard]] const NestDependences& all() const { return dependences_; }

private:
    ReadNest found_;
    NestDependences dependences_;
};

Judged judgedNest(const std::string& body) {
    return Judged(readNest("__global__ void k(const float* __restrict__ a, float* __restrict__ c, "
                           "int n, int m) {\n" +
                           body + "\n}\n"));
}

/// `statement` in a loop over j in one over i, for a tile of n columns of each thread.
Judged tileOf(const std::string& statement) {
    return judgedNest("float* own = c + threadIdx.x * m * n;\n"
                      "for (int i = 0; i < n; ++i) for (int j = 0; j < m; ++j) " +
                      statement);
}

TEST(NestDependences, RoundsThatAnExchangeOfLoopsTurnsAround) {
    EXPECT_EQ(tileOf("own[j * n + i] = a[j];").crossed("i", "j"), "");
    EXPECT_EQ(tileOf("own[i] += a[j * n + i];").crossed("i", "j"), "");
    EXPECT_EQ(tileOf("own[(j + 1) * n + i] = own[j * n + i];").crossed("i", "j"), "");
    EXPECT_THAT(tileOf("own[j * n + i] = own[i * n + j];").crossed("i", "j"),
                HasSubstr("both go to the same element"));
    EXPECT_THAT(tileOf("own[0] += a[j];").crossed("i", "j"),
                AllOf(HasSubstr("from round to round of i to an earlier one of j"),
                      HasSubstr("(a reduction)")));
    EXPECT_THAT(tileOf("own[i + j] = a[j];").crossed("i", "j"), HasSubstr("write before write"));
    EXPECT_THAT(tileOf("own[int(a[j])] = a[i];").crossed("i", "j"),
                HasSubstr("cannot be excluded"));
}

/// The parts of an index that are the same in both runs need not be within their extents.
TEST(NestDependences, OneThreadsRunsNeedNoExtentOfItsOwnPart) {
    const Judged rows = judgedNest("for (int i = 0; i < n; ++i) c[threadIdx.x * m + i] = a[i];");
    EXPECT_EQ(rows.loop("i").certainty, NestCertainty::Proved);
    EXPECT_EQ(rows.threads().certainty, NestCertainty::Likely);
}

TEST(NestDependences, ElementsOfTheirOwnAreProved) {
    const Judged flat = judgedNest("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "if (i < n) c[i] = a[i] + c[i];");
    EXPECT_EQ(flat.threads().certainty, NestCertainty::Proved) << flat.threads().reason;
    EXPECT_EQ(flat.blocks().certainty, NestCertainty::Proved) << flat.blocks().reason;
    const Judged strided =
        judgedNest("for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * "
                   "blockDim.x) c[i] = a[i];\n");
    EXPECT_EQ(strided.threads().certainty, NestCertainty::Proved) << strided.threads().reason;
    EXPECT_EQ(strided.blocks().certainty, NestCertainty::Proved) << strided.blocks().reason;
    EXPECT_EQ(strided.loop("i").certainty, NestCertainty::Proved);
    const Judged rows = judgedNest("for (int j = threadIdx.x; j < n; j += blockDim.x) "
                                   "c[blockIdx.x * n + j] = a[j];");
    EXPECT_EQ(rows.threads().certainty, NestCertainty::Proved) << rows.threads().reason;
    EXPECT_EQ(rows.blocks().certainty, NestCertainty::Proved) << rows.blocks().reason;
}

TEST(NestDependences, NeighboursAreBroken) {
    const Judged next = judgedNest("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "if (i + 1 < n) c[i] = c[i + 1];");
    EXPECT_EQ(next.threads().certainty, NestCertainty::Broken);
    EXPECT_EQ(next.blocks().certainty, NestCertainty::Broken);
    const Judged apart = judgedNest("int i = threadIdx.x;\n"
                                    "c[2 * i] = c[2 * i + 1];");
    EXPECT_EQ(apart.threads().certainty, NestCertainty::Proved) << apart.threads().reason;
    const Judged pairs = judgedNest("int i = threadIdx.x; c[i / 2] = 1;");
    EXPECT_EQ(pairs.threads().certainty, NestCertainty::Broken);
    const Judged columns = judgedNest("int i = threadIdx.x; c[i % 8 + i / 8 * 8] = 1;");
    EXPECT_EQ(columns.threads().certainty, NestCertainty::Proved) << columns.threads().reason;
}

TEST(NestDependences, RowsAreLikelyWhereNoGuardTells) {
    const Judged guarded = judgedNest("int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                      "if (j < n) for (int i = 0; i < m; ++i) c[i * n + j] = 1;");
    EXPECT_EQ(guarded.threads().certainty, NestCertainty::Proved) << guarded.threads().reason;
    EXPECT_EQ(guarded.loop("i").certainty, NestCertainty::Proved);
    const Judged open = judgedNest("int j = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                   "for (int i = 0; i < m; ++i) c[i * n + j] = 1;");
    EXPECT_EQ(open.threads().certainty, NestCertainty::Likely);
    EXPECT_THAT(open.threads().conditions, ElementsAre("globalIdx.x < n"));
}

TEST(NestDependences, PointersMayOverlap) {
    const Judged judged(readBody("int i = threadIdx.x; c[i] = a[i] + b[i];"));
    EXPECT_EQ(judged.threads().certainty, NestCertainty::Likely);
    EXPECT_THAT(judged.threads().conditions,
                ElementsAre("a, c do not overlap", "b, c do not overlap"));
    EXPECT_THAT(judgedNest("int i = threadIdx.x; c[i] = a[i];").threads().conditions, IsEmpty());
}

TEST(NestDependences, LoopsCarryWhatTheySum) {
    const Judged sum = judgedNest("float s = 0; for (int j = 0; j < n; ++j) s += a[j]; c[0] = s;");
    EXPECT_EQ(sum.loop("j").certainty, NestCertainty::Broken);
    EXPECT_TRUE(std::ranges::any_of(sum.all().dependences, &NestDependence::isReduction));
    const Judged own = judgedNest("for (int j = 0; j < n; ++j) { float s = a[j]; c[j] = s * s; }");
    EXPECT_EQ(own.loop("j").certainty, NestCertainty::Proved) << own.loop("j").reason;
    const Judged scan = judgedNest("for (int j = 1; j < n; ++j) c[j] = c[j - 1] + a[j];");
    EXPECT_EQ(scan.loop("j").certainty, NestCertainty::Broken);
    EXPECT_THAT(scan.loop("j").reason, HasSubstr("write before read"));
    const Judged back = judgedNest("for (int j = 1; j < n; ++j) c[j - 1] = c[j];");
    EXPECT_THAT(back.loop("j").reason, HasSubstr("read before write"));
    const Judged wave = judgedNest("for (int i = 1; i < m; ++i) for (int j = 0; j < n; ++j) "
                                   "c[i * n + j] = c[(i - 1) * n + j];");
    EXPECT_EQ(wave.loop("i").certainty, NestCertainty::Broken);
    EXPECT_EQ(wave.loop("j").certainty, NestCertainty::Proved) << wave.loop("j").reason;
}

TEST(NestDependences, ProductsOfAThreadAreTheSameInAllItsRounds) {
    const std::string row = "int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                            "float* o = c + (i / n) * n * m + (i % n) * m;\n";
    const Judged own = judgedNest(row + "for (int j = 0; j < m; ++j) o[j] = a[j];");
    EXPECT_EQ(own.loop("j").certainty, NestCertainty::Proved) << own.loop("j").reason;
    EXPECT_EQ(own.threads().certainty, NestCertainty::Broken);
    EXPECT_THAT(own.threads().reason, HasSubstr("cannot be excluded"));
    const Judged shifted = judgedNest(row + "for (int j = 1; j < m; ++j) o[j] = o[j - 1] + a[j];");
    EXPECT_EQ(shifted.loop("j").certainty, NestCertainty::Broken);
    // The product has another value in each round of the loop outside.
    const Judged rounds = judgedNest("for (int q = 0; q < n; ++q) for (int j = 0; j < m; ++j) "
                                     "c[(q / n) * n * m + (q % n) * m + j] = a[j];");
    EXPECT_EQ(rounds.loop("q").certainty, NestCertainty::Broken);
    EXPECT_EQ(rounds.loop("j").certainty, NestCertainty::Proved) << rounds.loop("j").reason;
    const Judged loaded = judgedNest("for (int j = 0; j < m; ++j) { int s = (int)a[j]; "
                                     "c[s * threadIdx.x + j] = 1; }");
    EXPECT_EQ(loaded.loop("j").certainty, NestCertainty::Broken);
}

TEST(NestDependences, AtomicsServeInAnyOrderAndLoadedIndicesDoNot) {
    const Judged atomic(
        readNest("__global__ void k(const int* __restrict__ x, int* __restrict__ h) "
                 "{ atomicAdd(&h[x[threadIdx.x]], 1); }"));
    EXPECT_EQ(atomic.threads().certainty, NestCertainty::Proved) << atomic.threads().reason;
    const Judged scatter(
        readNest("__global__ void k(const int* __restrict__ x, int* __restrict__ h) "
                 "{ h[x[threadIdx.x]] = 1; }"));
    EXPECT_EQ(scatter.threads().certainty, NestCertainty::Broken);
    EXPECT_THAT(scatter.threads().reason, HasSubstr("cannot be excluded"));
}

TEST(NestDependences, LaunchedBlocksAreAConditionOfTheirOwn) {
    const Judged judged(readNest("__global__ void k(float* __restrict__ c) {\n"
                                 "  c[blockIdx.x * 64 + threadIdx.x] = 1;\n}\n"
                                 "void f(float* c) { k<<<8, 64>>>(c); }\n"));
    EXPECT_EQ(judged.blocks().certainty, NestCertainty::Likely);
    EXPECT_THAT(judged.blocks().conditions,
                Contains("blocks have the size of the file's launches"));
    const Judged larger(readNest("__global__ void k(float* __restrict__ c) {\n"
                                 "  c[blockIdx.x * 64 + threadIdx.x] = 1;\n}\n"
                                 "void f(float* c) { k<<<8, 128>>>(c); }\n"));
    EXPECT_EQ(larger.blocks().certainty, NestCertainty::Broken);
}

TEST(NestDependences, OrderHoldsWithinARound) {
    const Judged judged = judgedNest("int i = threadIdx.x; c[i] = a[i]; c[i] = 2 * c[i];");
    EXPECT_TRUE(std::ranges::any_of(judged.all().dependences, [](const NestDependence& found) {
        return found.carrier.level == Level::Order && found.kind == NestDependenceKind::Flow;
    }));
    const Judged other = judgedNest("int i = threadIdx.x; c[2 * i] = a[i]; c[2 * i + 1] = a[i];");
    EXPECT_TRUE(std::ranges::none_of(other.all().dependences, [](const NestDependence& found) {
        return found.independence == NestCertainty::Broken;
    }));
    EXPECT_THAT(other.blocks().conditions, ElementsAre("the grid has one block"));
}

TEST(NestDependences, WhatIsNotFollowedIsDependent) {
    const Judged opaque(readNest("__device__ void f(float* p);\n"
                                 "__global__ void k(float* c, int n) {\n"
                                 "  for (int i = 0; i < n; ++i) c[i] = 1;\n"
                                 "  for (int j = 0; j < n; ++j) f(c + j);\n}\n"));
    EXPECT_EQ(opaque.loop("i").certainty, NestCertainty::Proved);
    EXPECT_EQ(opaque.loop("j").certainty, NestCertainty::Broken);
    EXPECT_THAT(opaque.threads().reason, HasSubstr("opaque: calls 'f'"));
    const Judged loaded(
        readNest("__global__ void k(float** c) { c[blockIdx.x][threadIdx.x] = 1; }"));
    EXPECT_EQ(loaded.threads().certainty, NestCertainty::Broken);
    EXPECT_THAT(loaded.threads().reason, HasSubstr("a pointer read from memory"));
}

TEST(NestDependences, BarriersOrderThreads) {
    const auto synchronised = [](const char* body) {
        const Judged judged(
            readBody(std::string("__shared__ float s[64]; int t = threadIdx.x;\n") + body));
        std::vector<bool> found;
        for (const NestDependence& dependence : judged.all().dependences)
            if (dependence.carrier.level == Level::Threads)
                found.push_back(dependence.isSynchronised);
        return found;
    };
    EXPECT_THAT(synchronised("s[t] = a[t]; __syncthreads(); c[t] = s[63 - t];"), ElementsAre(true));
    EXPECT_THAT(synchronised("s[t] = a[t]; c[t] = s[63 - t];"), ElementsAre(false));
    EXPECT_THAT(synchronised("s[t] = a[t]; if (n > 0) __syncthreads(); c[t] = s[63 - t];"),
                ElementsAre(false));
    // A second barrier keeps the next round's write behind this round's read.
    const std::string round = "for (int i = 0; i < n; ++i) { s[t] = a[i]; __syncthreads(); "
                              "c[t * n + i] = s[63 - t];";
    EXPECT_THAT(synchronised((round + " }").c_str()), Contains(false));
    EXPECT_THAT(synchronised((round + " __syncthreads(); }").c_str()), Contains(true));
}

TEST(NestCounts, SumsRounds) {
    const auto rounds = [](const std::string& body) {
        const ReadNest found = readBody(body);
        for (NestNodeId id = 0; id < found.nest.nodes.size(); ++id)
            if (found.nest.nodes[id].computation() != nullptr) {
                const auto count = roundsOf(found.nest, id);
                return count ? count->describe(found.nest.symbols) : std::string("unknown");
            }
        return std::string("no statement");
    };
    EXPECT_EQ(rounds("for (int i = 0; i < n; ++i) for (int j = 2; j <= m; ++j) c[j] = i;"),
              "-n + n*m");
    EXPECT_EQ(rounds("for (int i = 0; i < n; ++i) for (int j = 0; j < i; ++j) c[j] = i;"),
              "(-n + n*n)/2");
    EXPECT_EQ(rounds("for (int i = n; i > 0; --i) for (int j = i; j < n; ++j) c[j] = i;"),
              "(-n + n*n)/2");
    EXPECT_EQ(rounds("for (int i = threadIdx.x; i < n; i += blockDim.x) c[i] = 0;"), "n");
    EXPECT_EQ(rounds("while (a[0] > 0) c[0] = 1;"), "unknown");
}

TEST(NestCounts, CountsRunsOfALaunch) {
    const ReadNest found = readBody("int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
                                    "if (i >= n || i % 3 == 0) return;\n"
                                    "for (int j = i; j < m; j += 4) c[j] = a[i];");
    NestNodeId statement = noId;
    for (NestNodeId id = 0; id < found.nest.nodes.size(); ++id)
        if (found.nest.nodes[id].computation() != nullptr)
            statement = id;
    ASSERT_NE(statement, noId);
    std::map<Symbol, std::int64_t> values = {{{SymbolKind::BlockDim, 0}, 32},
                                             {{SymbolKind::GridDim, 0}, 4}};
    constexpr std::int64_t n = 100;
    constexpr std::int64_t m = 57;
    for (std::uint32_t id = 0; id < found.nest.symbols.all().size(); ++id) {
        const NestSymbol& symbol = found.nest.symbols.all()[id];
        if (symbol.kind == NestSymbolKind::Parameter)
            values[{SymbolKind::Named, id}] = symbol.name == "n" ? n : m;
    }
    std::int64_t wanted = 0;
    for (std::int64_t i = 0; i < 128; ++i)
        for (std::int64_t j = i; i < n && i % 3 != 0 && j < m; j += 4)
            ++wanted;
    Polyhedra polyhedra;
    EXPECT_EQ(runsOf(found.nest, statement, values, polyhedra), wanted);
    values.erase({SymbolKind::GridDim, 0});
    EXPECT_EQ(runsOf(found.nest, statement, values, polyhedra), std::nullopt);
}

TEST(NestCounts, RunsOfSharedLoopsAreThoseOfAllThreads) {
    const ReadNest found = readBody(
        "for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)\n"
        "    c[i] = a[i];");
    std::map<Symbol, std::int64_t> values = {{{SymbolKind::BlockDim, 0}, 8},
                                             {{SymbolKind::GridDim, 0}, 3}};
    for (std::uint32_t id = 0; id < found.nest.symbols.all().size(); ++id)
        if (found.nest.symbols.all()[id].name == "n")
            values[{SymbolKind::Named, id}] = 75;
    Polyhedra polyhedra;
    const auto statement = static_cast<NestNodeId>(found.nest.nodes.size() - 1);
    EXPECT_EQ(runsOf(found.nest, statement, values, polyhedra), 75);
}

TEST(NestDependences, SharedLoopsThatBeginElsewhereInOtherRoundsMeet) {
    for (const char* body :
         {"for (int j = 0; j < n; ++j) for (int i = threadIdx.x + j; i < m; i += blockDim.x) "
          "c[i] = a[j];",
          "for (int j = 0; j < n; ++j) for (int i = blockIdx.x * blockDim.x + threadIdx.x + j; "
          "i < m; i += blockDim.x * gridDim.x) c[i] = a[j];"})
        EXPECT_EQ(judgedNest(body).threads().certainty, NestCertainty::Broken) << body;
    const Judged same = judgedNest("for (int j = 0; j < n; ++j) for (int i = threadIdx.x + m; "
                                   "i < n; i += blockDim.x) c[i] = a[j];");
    EXPECT_EQ(same.threads().certainty, NestCertainty::Proved) << same.threads().reason;
}

TEST(Polyhedra, AnswersAndGivesUp) {
    Polyhedra polyhedra;
    EXPECT_EQ(polyhedra.isEmpty("[n] -> { [i] : 0 <= i < n and n <= 0 }"), true);
    EXPECT_EQ(polyhedra.isEmpty("[n] -> { [i] : 0 <= i < n }"), false);
    EXPECT_EQ(polyhedra.isEmpty("no set"), std::nullopt);
    EXPECT_EQ(polyhedra.count("{ [i, j] : 0 <= i < 10 and 0 <= j < i }"), 45);
    EXPECT_EQ(polyhedra.count("{ [i] : i >= 0 }"), std::nullopt);
    EXPECT_EQ(polyhedra.count("{ [i] : 0 <= i < 3 }"), 3); // An error before does no harm.
    // No count of a part of the points.
    EXPECT_EQ(polyhedra.count("{ [a, b, c] : 0 <= a < 99 and 0 <= b < 99 and 0 <= c < 99 and "
                              "a + b + c < 200 and exists k : a + 2 b + c = 3 k }"),
              std::nullopt);
    std::string hard = "{ [a, b, c, d, e, f] : (exists k : 7a + 11b + 13c = 17k)";
    for (int i = 0; i < 14; ++i)
        hard += " and (a + " + std::to_string(i) + " b < c or d + " + std::to_string(i) +
                " e > f or 3 a - " + std::to_string(i) + " f > 5)";
    EXPECT_EQ(polyhedra.isEmpty(hard + " }"), std::nullopt);
}

} // namespace
} // namespace kernelskill::analysis::testing
