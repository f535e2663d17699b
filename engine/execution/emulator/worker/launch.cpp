#include "engine/execution/emulator/worker/launch.h"

#include "engine/execution/buffer_fill.h"
#include "engine/execution/emulator/worker/block_sample.h"
#include "engine/execution/emulator/worker/hook_state.h"
#include "engine/execution/emulator/worker/outputs.h"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <cstring>
#include <span>

extern "C" {
// Defined with the kernel's other built-in variables, in one section.
extern KsIndex ks_blockIdx, ks_blockDim, ks_gridDim;
}

namespace kernelskill::engine::emulator {

namespace {

constexpr std::uint64_t heapBytes = 256ull << 20;
constexpr std::uint64_t argumentBytes = 1 << 20;
/// A profile starts no further block after this fraction of a run's time.
constexpr int profileShare = 4;
/// The maximum number of live fibers. Each needs two mappings, and the system allows 65530.
constexpr std::uint64_t maxLiveThreads = 16384;
/// Blocks that take turns. More would only run longer.
constexpr std::uint64_t blocksInTurns = 8;

KsIndex indexOf(const Dim3& dim) {
    return {dim.x, dim.y, dim.z};
}

constexpr std::int64_t smallSymbolRange = 16;

/// Unknown if the type is no number.
analysis::ScalarKind elementOf(const KsGlobal& global) {
    using analysis::ScalarKind;
    switch (global.element) {
    case KsElementFloating:
        return global.elementBytes == 8   ? ScalarKind::Double
               : global.elementBytes == 2 ? ScalarKind::Half
                                          : ScalarKind::Float;
    case KsElementHalf:
        return ScalarKind::Half;
    case KsElementBFloat16:
        return ScalarKind::BFloat16;
    case KsElementInteger:
        return global.elementBytes == 8   ? ScalarKind::Int64
               : global.elementBytes == 2 ? ScalarKind::Int16
               : global.elementBytes == 1 ? ScalarKind::UInt8
                                          : ScalarKind::Int32;
    default:
        return ScalarKind::Unknown;
    }
}

/// Whether index values are guesses: then their consequences are not the kernel's fault.
bool inventsIndices(const LaunchSpec& launch) {
    if (launch.origin == LaunchOrigin::Guessed)
        return true;
    return std::any_of(launch.arguments.begin(), launch.arguments.end(), [](const auto& argument) {
        const auto* buffer = std::get_if<BufferSpec>(&argument);
        if (buffer == nullptr || !isMadeUp(buffer->fill) || !buffer->isInput ||
            buffer->integerRange != 0)
            return false;
        switch (buffer->element) {
        case analysis::ScalarKind::Int32:
        case analysis::ScalarKind::UInt32:
        case analysis::ScalarKind::Int64:
        case analysis::ScalarKind::UInt64:
        case analysis::ScalarKind::Int16:
        case analysis::ScalarKind::UInt16:
        case analysis::ScalarKind::Unknown:
            return true;
        default:
            return false;
        }
    });
}

} // namespace

Launch::Launch(const Job& job, const LoadedImage& image, const ReportChannel& channel,
               std::optional<JobPart> part)
    : job_(job), image_(image), channel_(channel), part_(part),
      checker_(*this, memory_, races_, hazards_) {}

Result<std::unique_ptr<Launch>> Launch::prepare(const Job& job, const LoadedImage& image,
                                                const ReportChannel& channel,
                                                std::optional<JobPart> part,
                                                CapturedContents captured) {
    std::unique_ptr<Launch> launch{new Launch(job, image, channel, part)};
    if (auto laidOut = launch->layOut(std::move(captured)); !laidOut)
        return std::unexpected(laidOut.error());
    return launch;
}

Result<void> Launch::layOut(CapturedContents captured) {
    const LaunchSpec& spec = job_.launch;
    const std::uint64_t threads = spec.block.count();
    if (threads == 0 || threads > maxBlockThreads || spec.grid.count() == 0) {
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  fmt::format("a launch of {} blocks of {} threads; a block has 1 to {} threads",
                              spec.grid.count(), threads, maxBlockThreads),
                  "", "give a launch that CUDA would accept"});
    }
    auto memory = DeviceMemory::make(spec, job_.seed, job_.limits.memoryBytes, job_.wantHazards);
    if (!memory)
        return std::unexpected(memory.error());
    memory_ = std::move(*memory);
    memory_.setCaptured(std::move(captured));
    for (std::size_t i = 0; i < spec.arguments.size(); ++i)
        memory_.setFields(i, image_.pointeeFields(i));
    const std::uint64_t maxLive =
        std::max(threads, std::min(threads * spec.grid.count(), maxLiveThreads));
    auto stacks = FiberStacks::make(static_cast<std::uint32_t>(maxLive));
    if (!stacks)
        return std::unexpected(stacks.error());
    stacks_ = std::move(*stacks);
    const std::uint64_t warps = (threads + warpLanes - 1) / warpLanes;
    auto exchange =
        Reservation::make(maxLive / threads * warps * exchangeSlotCount * sizeof(ExchangeSlots),
                          Reservation::Access::Writable);
    auto arguments = Reservation::make(argumentBytes, Reservation::Access::Writable);
    auto heap = Reservation::make(heapBytes, Reservation::Access::Writable);
    if (!exchange || !arguments || !heap)
        return std::unexpected(!exchange ? exchange.error()
                               : !heap   ? heap.error()
                                         : arguments.error());
    exchange_ = std::move(*exchange);
    argumentBlock_ = std::move(*arguments);
    heap_ = std::move(*heap);

    std::vector<AddressRange> constants;
    for (const KsGlobal& global : image_.globals()) {
        if (global.isConstant != 0)
            constants.push_back({reinterpret_cast<std::uint64_t>(global.address), global.bytes});
    }
    trace_.emplace(TraceRanges{image_.staticShared(), {}, memory_.arena(), std::move(constants)});
    checker_.begin(job_.wantHazards, inventsIndices(spec), job_.wantTolerated, heap_.range());
    if (auto followed = checker_.followGlobals(image_.globals()); !followed)
        return std::unexpected(followed.error());
    races_.setBlockThreads(static_cast<unsigned>(threads));
    sample_ = sampleBlocks(spec.grid, job_.maxBlocks.value_or(spec.grid.count()));
    if (part_) {
        const std::uint64_t count = sample_.size();
        sample_.resize(count * (part_->index + 1) / part_->count);
        sample_.erase(sample_.begin(), sample_.begin() + static_cast<std::ptrdiff_t>(
                                                             count * part_->index / part_->count));
        trace_->noteFirstTouches();
    }

    hookState.imageBase = image_.base();
    hookState.stacks = stacks_.range();
    hookState.exchange = exchange_.range();
    hookState.arguments = argumentBlock_.range();
    hookState.buffers = memory_.arena();
    hookState.checker = &checker_;
    hookState.races = &races_;
    hookState.launch = this;
    fillSymbols();
    passArguments();
    return {};
}

void Launch::passArguments() {
    // Pointers first, then the bytes, each with an alignment that suits any type.
    constexpr std::uint64_t alignment = 64;
    const std::size_t count = job_.launch.arguments.size();
    // NOLINTNEXTLINE(performance-no-int-to-ptr)
    arguments_ = reinterpret_cast<void**>(argumentBlock_.low());
    std::uint64_t at = argumentBlock_.low() + (count * sizeof(void*) + alignment);
    std::size_t buffer = 0;
    for (std::size_t i = 0; i < count; ++i) {
        at = (at + alignment - 1) & ~(alignment - 1);
        auto* const place = reinterpret_cast<std::byte*>(at); // NOLINT(performance-no-int-to-ptr)
        arguments_[i] = place;
        if (const auto* scalar = std::get_if<ScalarSpec>(&job_.launch.arguments[i])) {
            std::memcpy(place, scalar->bytes.data(), scalar->bytes.size());
            at += scalar->bytes.size();
        } else {
            const auto& buffers = memory_.buffers();
            const DeviceMemory::Buffer& own = buffers[buffer++];
            const auto shared = std::ranges::find_if(
                buffers, [&](const auto& other) { return other.spec.name == own.spec.sameAs; });
            const std::uint64_t address = shared == buffers.end() ? own.low : shared->low;
            std::memcpy(place, &address, sizeof address);
            at += sizeof address;
        }
    }
}

/// Fills variables that the host sets before a launch. Zeros would hide the kernel's effects.
void Launch::fillSymbols() {
    const auto& wanted = job_.launch.symbols;
    for (std::size_t i = 0; i < image_.globals().size(); ++i) {
        const KsGlobal& global = image_.globals()[i];
        const auto symbol = std::find_if(wanted.begin(), wanted.end(), [&](const SymbolSpec& spec) {
            return spec.name == global.name;
        });
        const std::span<std::byte> bytes{static_cast<std::byte*>(global.address), global.bytes};
        const bool isSet = std::any_of(bytes.begin(), bytes.end(),
                                       [](std::byte byte) { return byte != std::byte{0}; });
        const bool isFloating = global.element == KsElementFloating;
        if (symbol == wanted.end() && (global.isConstant == 0 || !isFloating || isSet))
            continue;
        if (symbol != wanted.end() && !symbol->isFilled)
            continue;
        BufferSpec spec;
        spec.element = elementOf(global);
        spec.elementBytes = global.elementBytes;
        spec.integerRange = smallSymbolRange;
        if (symbol != wanted.end()) {
            const bool isChosen =
                symbol->fill == Fill::Chosen && (isFloating || global.fieldCount > 0);
            spec.fill = symbol->fill == Fill::Chosen && !isChosen ? Fill::Random : symbol->fill;
            if (isChosen)
                spec.choice = symbol->choice;
            spec.value = symbol->value;
            spec.integerRange = symbol->integerRange > 0 ? symbol->integerRange : smallSymbolRange;
        }
        const std::uint64_t seed = bufferSeed(job_.seed, global.name);
        if (global.fieldCount > 0 && isMadeUp(spec.fill))
            fillFields({global.fields, global.fieldCount}, spec, seed, 0, bytes);
        else if (spec.element != analysis::ScalarKind::Unknown)
            fillBuffer(spec, seed, 0, bytes);
        if (symbol == wanted.end())
            notes_.push_back(
                fmt::format("constant '{}' is filled with random values", global.name));
    }
}

void Launch::noteFills() {
    for (const DeviceMemory::Buffer& buffer : memory_.buffers()) {
        const BufferSpec& spec = buffer.spec;
        if (!spec.isInput || !isMadeUp(spec.fill))
            continue;
        if (!buffer.fields.empty()) {
            notes_.push_back(fmt::format("'{}' has a class type: its fields hold floats of [0, 1) "
                                         "and small integers, by their types",
                                         spec.name));
        } else if (spec.element == analysis::ScalarKind::Unknown) {
            notes_.push_back(fmt::format(
                "'{}' has a class type: each 4 bytes of it hold a small integer", spec.name));
        }
    }
}

WorkerReport Launch::run() {
    noteFills();
    arrangeBlocks();
    if (const Result<void> ran = runPasses(); !ran)
        fail({ran.error().kind, ran.error().what, "", ran.error().remedy, 0});
    current_ = nullptr;
    if (races_.assumesOrders())
        notes_.emplace_back("too many fences and atomics to follow what all of them order: races "
                            "between threads that use them may be missed");
    if (!part_ && sample_.size() < job_.launch.grid.count())
        notes_.push_back(sampleNote(job_.launch.grid.count(), sample_.size()));
    if (job_.wantOutputs)
        copyOutputs();
    return report();
}

void Launch::copyOutputs() {
    const bool isSampled = sample_.size() < job_.launch.grid.count();
    auto outputs = isSampled ? writtenOutputs(memory_) : wholeOutputs(memory_);
    if (!outputs)
        fail({outputs.error().kind, outputs.error().what, "", outputs.error().remedy, 0});
    outputs_ = std::move(*outputs);
    if (!isSampled)
        copyVariables();
}

void Launch::copyVariables() {
    for (const SymbolSpec& symbol : job_.launch.symbols) {
        const auto global = std::ranges::find_if(
            image_.globals(), [&](const KsGlobal& other) { return symbol.name == other.name; });
        if (!symbol.isOutput || global == image_.globals().end() ||
            elementOf(*global) == analysis::ScalarKind::Unknown)
            continue;
        const auto* const begin = static_cast<const std::byte*>(global->address);
        outputs_.push_back({symbol.name,
                            elementOf(*global),
                            global->elementBytes,
                            {begin, begin + global->bytes}});
    }
}

void Launch::arrangeBlocks() {
    interruptEvery_ = job_.schedule.interruption;
    random_.seed(job_.schedule.seed);
    if (job_.schedule.order == Schedule::Order::Reverse)
        std::ranges::reverse(sample_);
    else if (job_.schedule.order == Schedule::Order::Random)
        std::ranges::shuffle(sample_, random_);
}

Result<void> Launch::runPasses() {
    for (pass_ = 0; pass_ < passes_; ++pass_) {
        if (pass_ > 0)
            races_.gridBarrier();
        if (auto ran = interruptEvery_ == 0 ? runInOrder() : runInTurns(); !ran)
            return ran;
    }
    blocksRun_ /= passes_; // A block counts once, however often it ran.
    return {};
}

Result<void> Launch::runInOrder() {
    const auto soonEnough = std::chrono::steady_clock::now() + job_.limits.time / profileShare;
    auto live = std::make_unique<LiveBlock>(); // One block after the other uses the same memory.
    for (std::size_t next = 0; next < sample_.size(); ++next) {
        // Outputs need every block; counts do not.
        if (next > 0 && job_.wantProfile && !job_.wantOutputs &&
            std::chrono::steady_clock::now() > soonEnough) {
            sample_.resize(next);
            break;
        }
        if (auto started = start(sample_[next], *live); !started)
            return started;
        advance(*live);
        if (!live->finished)
            return runTogether(std::move(live), next + 1);
    }
    return {};
}

Result<void> Launch::start(std::uint64_t linearIndex, LiveBlock& live) {
    const Dim3& grid = job_.launch.grid;
    const KsIndex index{static_cast<unsigned>(linearIndex % grid.x),
                        static_cast<unsigned>(linearIndex / grid.x % grid.y),
                        static_cast<unsigned>(linearIndex / grid.x / grid.y)};
    if (live.block == nullptr) {
        auto shared = SharedMemory::make(image_.staticShared(), image_.sharedRanges(),
                                         job_.launch.dynamicSharedBytes);
        if (!shared)
            return std::unexpected(shared.error());
        live.shared = std::move(*shared);
    }
    live.shared.beginBlock();
    live.copies.beginBlock(job_.launch.block.count());
    // Poison has marked every variable as constructed. As in CUDA, their constructors do not run.
    for (const SharedVariable& guard : image_.sharedGuards()) {
        static_cast<void>(
            live.shared.markWritten(live.shared.offsetOf(image_.staticShared().low + guard.offset),
                                    static_cast<unsigned>(guard.bytes)));
    }
    if (live.block == nullptr)
        live.block = std::make_unique<CudaBlock>(*this, indexOf(job_.launch.block), job_.schedule);
    live.block->begin(index);
    races_.beginBlock();
    live.number = races_.runningBlock();
    ++blocksBegun_;
    return {};
}

void Launch::advance(LiveBlock& live) {
    currentLive_ = &live;
    current_ = live.block.get();
    checker_.setShared(&live.shared);
    trace_->setDynamicShared(live.shared.dynamic());
    ks_blockIdx = current_->index();
    ks_blockDim = indexOf(job_.launch.block);
    ks_gridDim = indexOf(job_.launch.grid);
    const CudaBlock::Outcome outcome = current_->run();
    live.finished = outcome == CudaBlock::Outcome::Finished;
    live.waitsForGrid = outcome == CudaBlock::Outcome::AtGridBarrier;
    checker_.settleUninitialised();
    if (!live.finished)
        return;
    checker_.settleHints();
    races_.endBlock();
    ++blocksRun_;
}

void Launch::requireRoomForAll() {
    dependOnOtherBlocks();
    const std::uint64_t threads = sample_.size() * job_.launch.block.count();
    if (threads > maxLiveThreads) {
        fail({ErrorKind::Unsupported,
              fmt::format("a grid barrier among {} threads; the emulator keeps at most {} alive",
                          threads, maxLiveThreads),
              "", "launch a smaller grid", lastSite()});
    }
    if (sample_.size() < job_.launch.grid.count())
        notes_.emplace_back(
            "the grid's barrier joined only the blocks that were run, not the whole grid");
}

/// Runs a cooperative launch: every block lives until the grid's barrier releases all of them.
Result<void> Launch::runTogether(std::unique_ptr<LiveBlock> first, std::size_t next) {
    requireRoomForAll();
    std::vector<std::unique_ptr<LiveBlock>> blocks;
    races_.pauseBlock();
    first->shared.suspend();
    blocks.push_back(std::move(first));
    for (; next < sample_.size(); ++next) {
        auto live = std::make_unique<LiveBlock>();
        live->place = static_cast<std::uint32_t>(blocks.size());
        if (auto started = start(sample_[next], *live); !started)
            return started;
        advance(*live);
        races_.pauseBlock();
        live->shared.suspend();
        blocks.push_back(std::move(live));
    }
    while (true) {
        races_.gridBarrier();
        bool waiting = false;
        for (const auto& live : blocks) {
            if (live->finished)
                continue;
            waiting = true;
            live->block->leaveGridBarrier();
        }
        if (!waiting)
            return {};
        for (const auto& live : blocks) {
            if (live->finished)
                continue;
            live->shared.resume();
            races_.resumeBlock(live->number);
            advance(*live);
            races_.pauseBlock();
            live->shared.suspend();
        }
    }
}

Result<void> Launch::runInTurns() {
    const std::uint64_t threads = job_.launch.block.count();
    std::uint64_t most = std::clamp<std::uint64_t>(maxLiveThreads / threads, 1, blocksInTurns);
    std::vector<std::unique_ptr<LiveBlock>> blocks;
    std::size_t next = 0;
    // Starts the next block in memory that another no longer uses, or in new memory.
    const auto begin = [&](LiveBlock& live) -> Result<void> {
        live.finished = live.waitsForGrid = false;
        auto started = start(sample_[next++], live);
        if (started) {
            races_.pauseBlock();
            live.shared.suspend();
        }
        return started;
    };
    while (true) {
        std::vector<LiveBlock*> ready;
        bool waits = false;
        for (const auto& live : blocks) {
            if (live->finished && next < sample_.size()) {
                if (auto started = begin(*live); !started)
                    return started;
            }
            waits |= live->waitsForGrid;
            if (!live->finished && !live->waitsForGrid)
                ready.push_back(live.get());
        }
        if (waits && most < sample_.size()) {
            requireRoomForAll();
            most = sample_.size();
        }
        while (blocks.size() < most && next < sample_.size()) {
            auto live = std::make_unique<LiveBlock>();
            live->place = static_cast<std::uint32_t>(blocks.size());
            if (auto started = begin(*live); !started)
                return started;
            ready.push_back(live.get());
            blocks.push_back(std::move(live));
        }
        if (ready.empty() && !waits)
            return {};
        if (ready.empty()) {
            races_.gridBarrier();
            for (const auto& live : blocks) {
                if (live->waitsForGrid)
                    live->block->leaveGridBarrier();
                live->waitsForGrid = false;
            }
            continue;
        }
        LiveBlock& chosen = *ready[random_() % ready.size()];
        chosen.shared.resume();
        races_.resumeBlock(chosen.number);
        advance(chosen);
        races_.pauseBlock();
        chosen.shared.suspend();
    }
}

} // namespace kernelskill::engine::emulator
