#include "engine/graph/model/placement.h"

#include <gtest/gtest.h>

#include <random>

namespace kernelskill::engine::graph {
namespace {

using analysis::ScalarKind;
using analysis::raise::Buffer;
using analysis::raise::Index;
using analysis::raise::Program;

TEST(Placement, SharesMemoryOnlyBetweenLifetimesThatDoNotMeet) {
    std::mt19937 random(7);
    for (int round = 0; round < 50; ++round) {
        Program program;
        std::vector<Lifetime> lifetimes;
        for (std::uint32_t i = 0; i < 12; ++i) {
            const auto elements = static_cast<std::int64_t>(random() % 3000);
            program.buffers.push_back(
                {"b", ScalarKind::Float, {Index(elements)}, Buffer::Role::Local, ""});
            const std::size_t first = random() % 20;
            lifetimes.push_back({i, first, first + random() % 6});
        }
        const Placement placement = placed(program, lifetimes);
        for (const Lifetime& one : lifetimes) {
            const std::int64_t begin = placement.offsets.at(one.buffer);
            const std::int64_t end = begin + *program.buffers[one.buffer].shape[0].constant() * 4;
            EXPECT_EQ(begin % placementAlignment, 0);
            EXPECT_LE(end, placement.bytes);
            for (const Lifetime& other : lifetimes) {
                if (other.buffer == one.buffer || other.first > one.last || one.first > other.last)
                    continue;
                const std::int64_t otherBegin = placement.offsets.at(other.buffer);
                EXPECT_TRUE(otherBegin >= end || otherBegin < begin || end == begin);
            }
        }
    }
}

TEST(Placement, ReusesMemoryThatIsFree) {
    Program program;
    for (int i = 0; i < 3; ++i)
        program.buffers.push_back({"b", ScalarKind::Float, {Index(1024)}, Buffer::Role::Local, ""});
    const Placement placement = placed(program, {{0, 0, 1}, {1, 1, 2}, {2, 2, 3}});
    EXPECT_EQ(placement.bytes, 2 * 4096);
}

TEST(Placement, PutsDynamicBuffersBehindTheOthers) {
    Program program;
    program.buffers.push_back({"a", ScalarKind::Float, {Index(4)}, Buffer::Role::Local, ""});
    program.buffers.push_back(
        {"b", ScalarKind::Float, {Index::size("s1", 1)}, Buffer::Role::Local, ""});
    const Placement placement = placed(program, {{0, 0, 1}, {1, 0, 1}});
    EXPECT_EQ(placement.bytes, placementAlignment);
    EXPECT_EQ(placement.dynamic, (std::vector<std::vector<analysis::raise::BufferId>>{{1}}));
}

TEST(Placement, SharesPlacesBetweenDynamicBuffersThatDoNotMeet) {
    Program program;
    const Index rows = Index::size("s1", 1);
    for (const std::int64_t width : {8, 64, 64, 8})
        program.buffers.push_back(
            {"b", ScalarKind::Float, {rows * width}, Buffer::Role::Local, ""});
    // The first and the third meet, and the second and the fourth.
    const Placement placement = placed(program, {{0, 0, 2}, {1, 0, 1}, {2, 2, 3}, {3, 1, 3}});
    EXPECT_EQ(placement.dynamic,
              (std::vector<std::vector<analysis::raise::BufferId>>{{1, 2}, {0}, {3}}));
}

} // namespace
} // namespace kernelskill::engine::graph
