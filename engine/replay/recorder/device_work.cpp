#include "engine/replay/recorder/device_work.h"

#include "engine/execution/gpu/runner/helper_kernels.h"
#include "engine/execution/gpu/runner/kernel_fault.h"
#include "engine/replay/recorder/own_calls.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

namespace kernelskill::engine::replay {
namespace {

using Clock = std::chrono::steady_clock;

constexpr unsigned threadsPerBlock = 512;
constexpr unsigned blocksPerMultiprocessor = 4;
/// The L2 cache does not replace strictly by age, so more than its size has to be read.
constexpr std::uint64_t sweepFactor = 3;
constexpr std::uint64_t minSweepBytes = 64ull << 20;
/// So long the processor is kept busy, since sleeping takes longer than most kernels.
constexpr std::chrono::milliseconds busyTime{2};
constexpr std::chrono::microseconds pollInterval{50};

} // namespace

Result<OwnMemory> OwnMemory::allocate(const DeviceWork& work, std::uint64_t bytes) {
    const auto& driver = work.driver();
    CUdeviceptr address = 0;
    if (auto done = driver.check("allocate memory beside the program's",
                                 driver.cuMemAlloc(&address, std::max<std::uint64_t>(bytes, 1)));
        !done)
        return std::unexpected(done.error());
    return OwnMemory(work, address, bytes);
}

OwnMemory::OwnMemory(OwnMemory&& other) noexcept
    : work_(other.work_), address_(std::exchange(other.address_, 0)), bytes_(other.bytes_) {}

OwnMemory& OwnMemory::operator=(OwnMemory&& other) noexcept {
    std::swap(work_, other.work_);
    std::swap(address_, other.address_);
    std::swap(bytes_, other.bytes_);
    return *this;
}

OwnMemory::~OwnMemory() {
    if (address_ != 0 && !work_->isLost())
        work_->driver().cuMemFree(address_);
}

Result<std::unique_ptr<DeviceWork>> DeviceWork::make(const DriverFunctions& driver) {
    auto reader = DeviceReader::make(driver);
    if (!reader)
        return std::unexpected(
            Error{ErrorKind::Failed, "the driver gives no stream beside the program's", {}, {}});
    std::unique_ptr<DeviceWork> work(new DeviceWork(driver, std::move(*reader)));
    auto done = driver.check("ask for the device", driver.cuCtxGetDevice(&work->device_));
    for (CUevent* event : {&work->begin_, &work->end_}) {
        if (done)
            done = driver.check("make an event", driver.cuEventCreate(event, CU_EVENT_DEFAULT));
    }
    const std::string image(gpu::helperKernels());
    if (done)
        done = driver.check("load the helper kernels",
                            driver.cuModuleLoadData(&work->helpers_, image.c_str()));
    for (const auto& [function, name] : {std::pair{&work->readMemory_, "read_memory"},
                                         std::pair{&work->differPages_, "differ_pages"}}) {
        if (done)
            done = driver.check("find a helper kernel",
                                driver.cuModuleGetFunction(function, work->helpers_, name));
    }
    if (!done)
        return std::unexpected(done.error());
    work->blocks_ = blocksPerMultiprocessor *
                    static_cast<unsigned>(
                        std::max(1, work->attribute(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)));
    return work;
}

DeviceWork::~DeviceWork() {
    for (CUevent event : {begin_, end_}) {
        if (event != nullptr)
            driver_.cuEventDestroy(event);
    }
    if (helpers_ != nullptr)
        driver_.cuModuleUnload(helpers_);
}

int DeviceWork::attribute(CUdevice_attribute which) const {
    int value = 0;
    static_cast<void>(driver_.cuDeviceGetAttribute(&value, which, device_));
    return value;
}

Result<void> DeviceWork::finish(std::chrono::milliseconds limit) {
    CUevent event = nullptr;
    if (auto made =
            driver_.check("make an event", driver_.cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
        !made)
        return made;
    auto status = driver_.cuEventRecord(event, stream());
    const auto begin = Clock::now();
    while (status == CUDA_SUCCESS &&
           (status = driver_.cuEventQuery(event)) == CUDA_ERROR_NOT_READY) {
        const auto passed = Clock::now() - begin;
        if (passed > limit)
            break;
        if (passed > busyTime)
            std::this_thread::sleep_for(pollInterval);
        status = CUDA_SUCCESS;
    }
    driver_.cuEventDestroy(event);
    if (status == CUDA_SUCCESS)
        return {};
    if (status == CUDA_ERROR_NOT_READY) {
        isLost_ = true;
        return std::unexpected(
            Error{ErrorKind::Failed,
                  "the kernel did not end within " + std::to_string(limit.count()) + " ms",
                  {},
                  "look for an endless loop with the emulator"});
    }
    isLost_ = isLost_ || gpu::isSticky(status);
    return std::unexpected(driver_.failure(gpu::explanationOf(status), status));
}

bool awaitAllWork(const DriverFunctions& driver, std::chrono::milliseconds limit) {
    CUcontext context = nullptr;
    if (driver.cuCtxGetCurrent(&context) != CUDA_SUCCESS)
        return false;
    struct Wait {
        std::mutex mutex;
        std::condition_variable ended;
        std::optional<CUresult> status;
    };
    const auto wait = std::make_shared<Wait>();
    // The work may itself wait for what the held thread does next, and the driver's call has no
    // limit: then the thread is left behind, and ends when the program has gone on.
    std::thread([wait, context, driver] {
        const OwnCalls own;
        auto status = driver.cuCtxSetCurrent(context);
        if (status == CUDA_SUCCESS)
            status = driver.cuCtxSynchronize();
        const std::scoped_lock lock(wait->mutex);
        wait->status = status;
        wait->ended.notify_all();
    }).detach();
    std::unique_lock lock(wait->mutex);
    wait->ended.wait_for(lock, limit, [&] { return wait->status.has_value(); });
    return wait->status == CUDA_SUCCESS;
}

Result<void> DeviceWork::startClock() {
    return driver_.check("record an event", driver_.cuEventRecord(begin_, stream()));
}

Result<void> DeviceWork::stopClock() {
    return driver_.check("record an event", driver_.cuEventRecord(end_, stream()));
}

Result<double> DeviceWork::microseconds() const {
    float milliseconds = 0;
    if (auto read = driver_.check("read the events",
                                  driver_.cuEventElapsedTime(&milliseconds, begin_, end_));
        !read)
        return std::unexpected(read.error());
    return 1e3 * static_cast<double>(milliseconds);
}

Result<void> DeviceWork::launchHelper(CUfunction kernel, CUdeviceptr from, CUdeviceptr to,
                                      std::uint64_t count, std::uint64_t window) const {
    void* parameters[] = {&from, &to, &count, &window};
    CUlaunchConfig config{};
    config.gridDimX = blocks_;
    config.blockDimX = threadsPerBlock;
    config.gridDimY = config.gridDimZ = config.blockDimY = config.blockDimZ = 1;
    config.hStream = stream();
    return driver_.check("launch a helper kernel",
                         driver_.cuLaunchKernelEx(&config, kernel, parameters, nullptr));
}

Result<void> DeviceWork::sweepCache() {
    if (!swept_) {
        const auto cache = static_cast<std::uint64_t>(attribute(CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE));
        auto memory = OwnMemory::allocate(*this, std::max(minSweepBytes, sweepFactor * cache));
        if (!memory)
            return std::unexpected(memory.error());
        swept_.emplace(std::move(*memory));
        if (auto cleared =
                driver_.check("clear memory", driver_.cuMemsetD8Async(swept_->address(), 0,
                                                                      swept_->bytes(), stream()));
            !cleared)
            return cleared;
    }
    constexpr std::uint64_t everywhere = ~std::uint64_t{0};
    return launchHelper(readMemory_, swept_->address(), swept_->address(),
                        swept_->bytes() / comparedBytes, everywhere);
}

Result<std::vector<std::vector<std::uint64_t>>>
DeviceWork::differingPages(std::span<const Pair> pairs) {
    const auto pagesOf = [](const Pair& pair) { return (pair.bytes + pageBytes - 1) / pageBytes; };
    std::uint64_t pages = 0;
    for (const Pair& pair : pairs)
        pages += pagesOf(pair);
    std::vector<std::vector<std::uint64_t>> result(pairs.size());
    if (pages == 0)
        return result;
    const std::uint64_t flagBytes = pages * sizeof(std::uint32_t);
    if (!flags_ || flags_->bytes() < flagBytes) {
        flags_.reset();
        auto memory = OwnMemory::allocate(*this, flagBytes);
        if (!memory)
            return std::unexpected(memory.error());
        flags_.emplace(std::move(*memory));
    }
    auto done = driver_.check("clear memory",
                              driver_.cuMemsetD8Async(flags_->address(), 0, flagBytes, stream()));
    std::uint64_t before = 0;
    for (const Pair& pair : pairs) {
        if (done && pair.bytes >= comparedBytes)
            done = launchHelper(differPages_, pair.one, pair.other, pair.bytes / comparedBytes,
                                flags_->address() + before * sizeof(std::uint32_t));
        before += pagesOf(pair);
    }
    std::vector<std::uint32_t> flags(pages);
    if (done)
        done = driver_.check(
            "read which pages differ",
            driver_.cuMemcpyDtoHAsync(flags.data(), flags_->address(), flagBytes, stream()));
    if (done)
        done = finish();
    if (!done)
        return std::unexpected(done.error());
    before = 0;
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const std::uint64_t count = pagesOf(pairs[i]);
        for (std::uint64_t page = 0; page < count; ++page) {
            if (flags[before + page] != 0)
                result[i].push_back(page);
        }
        before += count;
    }
    return result;
}

} // namespace kernelskill::engine::replay
