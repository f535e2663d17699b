#include "engine/execution/emulator/worker/happens_before.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace kernelskill::engine::emulator {

namespace {

constexpr std::size_t blockScope = 0;
constexpr std::size_t deviceScope = 1;

} // namespace

BlockKnowledge::Thread& HappensBefore::threadOf(std::uint32_t block, unsigned thread,
                                                unsigned blockThreads) {
    auto& threads = blocks_[block].threads;
    if (threads.size() < blockThreads)
        threads.resize(blockThreads);
    return threads[thread];
}

const BlockKnowledge::Thread* HappensBefore::knownThread(std::uint32_t block,
                                                         unsigned thread) const {
    const BlockKnowledge* knowledge = knowledgeOf(block);
    return knowledge != nullptr && thread < knowledge->threads.size() ? &knowledge->threads[thread]
                                                                      : nullptr;
}

const BlockKnowledge* HappensBefore::knowledgeOf(std::uint32_t block) const {
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? nullptr : &found->second;
}

void HappensBefore::endBlock(std::uint32_t block) {
    const auto found = blocks_.find(block);
    if (found == blocks_.end())
        return;
    found->second.lanes.clear();
    if (found->second.threads.empty())
        blocks_.erase(found);
}

SharedClock HappensBefore::joined(const SharedClock& one, const SharedClock& other) {
    if (other == nullptr || one == other)
        return one;
    if (one == nullptr)
        return other;
    work_ += one->size() + other->size();
    if (isExhausted())
        return one;
    auto both = std::make_shared<VectorClock>(*one);
    return both->join(*other) ? both : one;
}

SharedClock HappensBefore::snapshot(const Observer& by, const SharedClock& known) {
    auto clock =
        known == nullptr ? std::make_shared<VectorClock>() : std::make_shared<VectorClock>(*known);
    work_ += clock->size();
    clock->raiseBlock(by.block, by.intervalStart - 1);
    if (by.warpStart > by.intervalStart)
        clock->raiseWarp(by.block, by.thread / 32, by.warpStart - 1);
    const BlockKnowledge* own = knowledgeOf(by.block);
    const unsigned warp = by.thread / 32;
    if (own != nullptr && warp < own->lanes.size() && own->lanes[warp] != nullptr) {
        const auto& times = (*own->lanes[warp])[by.thread % 32];
        for (unsigned lane = 0; lane < times.size(); ++lane) {
            if (times[lane] > by.warpStart)
                clock->raiseThread(by.block, warp * 32 + lane, times[lane]);
        }
    }
    clock->raiseThread(by.block, by.thread, by.now);
    return clock;
}

void HappensBefore::makeKnown(BlockKnowledge::Thread& thread, SyncScope scope) {
    add(thread.known, std::exchange(thread.pending[blockScope], nullptr));
    if (scope == SyncScope::Device)
        add(thread.known, std::exchange(thread.pending[deviceScope], nullptr));
}

void HappensBefore::fence(const Observer& by, SyncScope scope, unsigned blockThreads) {
    active_ = true;
    if (isExhausted())
        return;
    BlockKnowledge::Thread& thread = threadOf(by.block, by.thread, blockThreads);
    makeKnown(thread, scope);
    const SharedClock published = snapshot(by, thread.known);
    thread.published[blockScope] = published;
    thread.publishedAt[blockScope] = by.now;
    if (scope == SyncScope::Device) {
        thread.published[deviceScope] = published;
        thread.publishedAt[deviceScope] = by.now;
    }
}

void HappensBefore::access(const Observer& by, const SyncAccess& access, unsigned blockThreads) {
    active_ |= access.releases;
    if (!active_ || isExhausted())
        return;
    const Place place{access.address, access.isShared ? by.block : 0};
    const bool reachesDevice = access.scope == SyncScope::Device;
    const auto found = locations_.find(place);
    if (access.reads && found != locations_.end()) {
        const Location& location = found->second;
        BlockKnowledge::Thread& thread = threadOf(by.block, by.thread, blockThreads);
        if (location.block == by.block)
            add(thread.pending[blockScope], location.published[blockScope]);
        if (reachesDevice)
            add(thread.pending[deviceScope], location.published[deviceScope]);
        if (access.acquires)
            makeKnown(thread, access.scope);
    }
    if (!access.writes)
        return;
    std::array<SharedClock, 2> published;
    if (const auto* thread = knownThread(by.block, by.thread))
        published = thread->published;
    if (access.releases) {
        const BlockKnowledge::Thread& thread = threadOf(by.block, by.thread, blockThreads);
        const SharedClock all = snapshot(by, thread.known);
        published[blockScope] = all;
        if (reachesDevice)
            published[deviceScope] = all;
    }
    if (!reachesDevice)
        published[deviceScope] = nullptr;
    // A read-modify-write continues what others published there; a plain store begins anew.
    if (found == locations_.end()) {
        if (published[blockScope] != nullptr)
            locations_[place] = {std::move(published), by.block};
        return;
    }
    Location& location = found->second;
    if (!access.reads)
        location.published = {};
    if (location.block != by.block)
        location.published[blockScope] = nullptr;
    location.block = by.block;
    add(location.published[blockScope], published[blockScope]);
    add(location.published[deviceScope], published[deviceScope]);
}

void HappensBefore::readsPlainWrite(const Observer& by, std::uint32_t block, unsigned writer,
                                    Time time, unsigned blockThreads) {
    const BlockKnowledge::Thread* from = knownThread(block, writer);
    if (from == nullptr || isExhausted())
        return;
    const SharedClock near =
        from->publishedAt[blockScope] < time ? from->published[blockScope] : nullptr;
    const SharedClock far =
        from->publishedAt[deviceScope] < time ? from->published[deviceScope] : nullptr;
    BlockKnowledge::Thread& thread = threadOf(by.block, by.thread, blockThreads);
    if (block == by.block)
        add(thread.pending[blockScope], near);
    add(thread.pending[deviceScope], far);
}

void HappensBefore::share(BlockKnowledge& knowledge, std::span<const unsigned> threads) {
    BlockKnowledge::Thread all;
    for (const unsigned index : threads) {
        BlockKnowledge::Thread& thread = knowledge.threads[index];
        makeKnown(thread, SyncScope::Device);
        add(all.known, thread.known);
        for (const std::size_t scope : {blockScope, deviceScope}) {
            add(all.published[scope], thread.published[scope]);
            all.publishedAt[scope] = std::max(all.publishedAt[scope], thread.publishedAt[scope]);
        }
    }
    for (const unsigned index : threads)
        knowledge.threads[index] = all;
}

void HappensBefore::blockBarrier(std::uint32_t block) {
    const auto found = blocks_.find(block);
    if (found == blocks_.end())
        return;
    BlockKnowledge& knowledge = found->second;
    knowledge.lanes.clear();
    std::vector<unsigned> all(knowledge.threads.size());
    std::iota(all.begin(), all.end(), 0u);
    share(knowledge, all);
}

void HappensBefore::warpBarrier(std::uint32_t block, unsigned warp, std::uint32_t lanes, bool all,
                                Time now) {
    if (all && !blocks_.contains(block))
        return;
    BlockKnowledge& knowledge = blocks_[block];
    if (all) {
        if (warp < knowledge.lanes.size())
            knowledge.lanes[warp] = nullptr;
    } else {
        if (knowledge.lanes.size() <= warp)
            knowledge.lanes.resize(warp + 1);
        auto& known = knowledge.lanes[warp];
        if (known == nullptr)
            known = std::make_unique<BlockKnowledge::Lanes>();
        std::array<Time, 32> joint{};
        for (unsigned lane = 0; lane < 32; ++lane) {
            if ((lanes >> lane & 1u) == 0)
                continue;
            for (unsigned other = 0; other < 32; ++other)
                joint[other] = std::max(joint[other], (*known)[lane][other]);
            joint[lane] = now;
        }
        for (unsigned lane = 0; lane < 32; ++lane) {
            if ((lanes >> lane & 1u) != 0)
                (*known)[lane] = joint;
        }
    }
    if (knowledge.threads.empty())
        return;
    std::vector<unsigned> members;
    for (unsigned lane = 0; lane < 32; ++lane) {
        if ((lanes >> lane & 1u) != 0 && warp * 32 + lane < knowledge.threads.size())
            members.push_back(warp * 32 + lane);
    }
    share(knowledge, members);
}

void HappensBefore::partialBarrier(std::uint32_t block, std::span<const unsigned> threads, Time now,
                                   unsigned blockThreads) {
    if (threads.empty() || isExhausted())
        return;
    static_cast<void>(threadOf(block, threads.front(), blockThreads));
    BlockKnowledge& knowledge = blocks_[block];
    share(knowledge, threads);
    const SharedClock& before = knowledge.threads[threads.front()].known;
    auto known = before == nullptr ? std::make_shared<VectorClock>()
                                   : std::make_shared<VectorClock>(*before);
    work_ += threads.size();
    for (const unsigned thread : threads)
        known->raiseThread(block, thread, now);
    for (const unsigned thread : threads)
        knowledge.threads[thread].known = known;
}

void HappensBefore::forget() {
    blocks_.clear();
    locations_.clear();
}

HappensBefore::Order HappensBefore::orderOf(const Observer& by, std::uint32_t block, unsigned other,
                                            Time time) const {
    if (isExhausted())
        return Order::Before;
    const BlockKnowledge* own = knowledgeOf(by.block);
    if (own == nullptr)
        return Order::None;
    const unsigned warp = other / 32;
    if (block == by.block && warp == by.thread / 32 && warp < own->lanes.size() &&
        own->lanes[warp] != nullptr && (*own->lanes[warp])[by.thread % 32][other % 32] >= time)
        return Order::Before;
    if (by.thread >= own->threads.size())
        return Order::None;
    const BlockKnowledge::Thread* thread = &own->threads[by.thread];
    const auto covers = [&](const SharedClock& clock) {
        return clock != nullptr && clock->covers(block, other, time);
    };
    if (covers(thread->known))
        return Order::Before;
    return std::ranges::any_of(thread->pending, covers) ? Order::Unfenced : Order::None;
}

bool HappensBefore::knowsOfInterval(const Observer& by) const {
    const BlockKnowledge* own = knowledgeOf(by.block);
    if (own == nullptr)
        return false;
    const unsigned warp = by.thread / 32;
    if (warp < own->lanes.size() && own->lanes[warp] != nullptr)
        return true;
    if (by.thread >= own->threads.size())
        return false;
    const BlockKnowledge::Thread* thread = &own->threads[by.thread];
    const auto knows = [&](const SharedClock& clock) {
        return clock != nullptr && clock->knowsWithin(by.block, by.intervalStart);
    };
    return knows(thread->known) || std::ranges::any_of(thread->pending, knows);
}

} // namespace kernelskill::engine::emulator
