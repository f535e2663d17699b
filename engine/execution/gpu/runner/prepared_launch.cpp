#include "engine/execution/gpu/runner/prepared_launch.h"

#include "engine/execution/buffer_fill.h"
#include "engine/execution/gpu/memory_demand.h"
#include "engine/execution/gpu/runner/device_fill.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace kernelskill::engine::gpu {
namespace {

constexpr std::uint64_t sharedWithoutAsking = 48ull << 10;

} // namespace

Result<std::unique_ptr<PreparedLaunch>> PreparedLaunch::prepare(Device& device,
                                                                const Subject& subject,
                                                                std::uint64_t seed,
                                                                const PreparedLaunch* other) {
    std::unique_ptr<PreparedLaunch> prepared(new PreparedLaunch(device, subject.launch));
    if (auto found = prepared->findFunction(subject); !found)
        return std::unexpected(found.error());
    if (auto fits = prepared->checkDemand(other); !fits)
        return std::unexpected(fits.error());
    if (auto added = prepared->addArguments(seed, other); !added)
        return std::unexpected(added.error());
    return prepared;
}

Result<void> PreparedLaunch::findFunction(const Subject& subject) {
    symbol_ = subject.symbol;
    const auto& driver = device_.driver();
    auto module = device_.module(subject.cubin);
    if (!module)
        return std::unexpected(module.error());
    module_ = *module;
    if (auto found =
            driver.check("find the kernel",
                         driver.cuModuleGetFunction(&function_, module_, subject.symbol.c_str()));
        !found)
        return found;
    if (spec_.dynamicSharedBytes <= sharedWithoutAsking)
        return {};
    const auto status =
        driver.cuFuncSetAttribute(function_, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
                                  static_cast<int>(spec_.dynamicSharedBytes));
    if (status != CUDA_SUCCESS)
        return std::unexpected(
            Error{ErrorKind::InvalidInput,
                  "the GPU does not give a block " + std::to_string(spec_.dynamicSharedBytes) +
                      " bytes of dynamic shared memory",
                  {},
                  "launch with at most " +
                      std::to_string(device_.attribute(
                          CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)) +
                      " bytes in all"});
    return {};
}

std::shared_ptr<const PreparedLaunch::Argument>
PreparedLaunch::argumentLike(const BufferSpec& spec, std::size_t position) const {
    const auto same = std::ranges::find_if(buffers_, [&](const auto& argument) {
        return argument->position == position && argument->spec == spec;
    });
    return same == buffers_.end() ? nullptr : *same;
}

Result<void> PreparedLaunch::checkDemand(const PreparedLaunch* other) const {
    std::uint64_t demanded = 0;
    for (std::size_t position = 0; position < spec_.arguments.size(); ++position) {
        const auto* buffer = std::get_if<BufferSpec>(&spec_.arguments[position]);
        if (buffer == nullptr || (other != nullptr && other->argumentLike(*buffer, position)))
            continue;
        const std::uint64_t bytes = memoryDemand(*buffer);
        demanded = bytes > std::numeric_limits<std::uint64_t>::max() - demanded
                       ? std::numeric_limits<std::uint64_t>::max()
                       : demanded + bytes;
    }
    std::size_t free = 0;
    std::size_t total = 0;
    const auto& driver = device_.driver();
    if (auto asked = driver.check("ask for the free memory", driver.cuMemGetInfo(&free, &total));
        !asked)
        return asked;
    return checkGuessedDemand(spec_, demanded, free);
}

Result<void> PreparedLaunch::addBuffer(const BufferSpec& spec, std::uint64_t seed,
                                       std::size_t position, const PreparedLaunch* other) {
    if (!spec.elements)
        return std::unexpected(Error{ErrorKind::Unsupported,
                                     "how long '" + spec.name + "' is, is not known",
                                     {},
                                     "pin the launch with its length"});
    const auto take = [&](std::shared_ptr<const Argument> argument) {
        const CUdeviceptr address = argument->buffer->address();
        auto& value = values_.emplace_back(sizeof address);
        std::memcpy(value.data(), &address, sizeof address);
        buffers_.push_back(std::move(argument));
    };
    if (auto same = other != nullptr ? other->argumentLike(spec, position) : nullptr) {
        take(std::move(same));
        return {};
    }
    const auto& driver = device_.driver();
    const auto bytes = *spec.elements * spec.elementBytes;
    const std::uint64_t shift = std::uint64_t{spec.shift} * spec.elementBytes;
    auto buffer =
        DeviceBuffer::create(driver, device_.handle(), bytes, shift % DeviceBuffer::alignment);
    if (!buffer)
        return std::unexpected(buffer.error());
    if (auto painted = (*buffer)->paintSurroundings(); !painted)
        return painted;
    if (auto filled =
            fillDevice(device_, spec, bufferSeed(seed, spec.name), (*buffer)->address(), bytes);
        !filled)
        return filled;
    Argument argument{position, spec, std::move(*buffer), nullptr};
    if (spec.isOutput && bytes > 0) {
        auto original = DeviceBuffer::create(driver, device_.handle(), bytes);
        if (!original)
            return std::unexpected(original.error());
        argument.original = std::move(*original);
        if (auto kept =
                driver.check("keep a buffer", driver.cuMemcpyDtoDAsync(argument.original->address(),
                                                                       argument.buffer->address(),
                                                                       bytes, device_.stream()));
            !kept)
            return kept;
    }
    take(std::make_shared<const Argument>(std::move(argument)));
    return {};
}

Result<void> PreparedLaunch::addArguments(std::uint64_t seed, const PreparedLaunch* other) {
    for (std::size_t position = 0; position < spec_.arguments.size(); ++position) {
        if (const auto* scalar = std::get_if<ScalarSpec>(&spec_.arguments[position])) {
            values_.push_back(scalar->bytes);
            continue;
        }
        const auto& buffer = std::get<BufferSpec>(spec_.arguments[position]);
        if (auto added = addBuffer(buffer, seed, position, other); !added)
            return added;
    }
    const auto& driver = device_.driver();
    return driver.check("prepare the launch", driver.cuCtxSynchronize());
}

Result<void> PreparedLaunch::restore() const {
    const auto& driver = device_.driver();
    for (const auto& argument : buffers_) {
        if (!argument->original)
            continue;
        if (auto copied = driver.check(
                "restore a buffer",
                driver.cuMemcpyDtoDAsync(argument->buffer->address(), argument->original->address(),
                                         argument->buffer->bytes(), device_.stream()));
            !copied)
            return copied;
    }
    return {};
}

Result<void> PreparedLaunch::launch() const {
    const auto& driver = device_.driver();
    std::vector<void*> parameters;
    for (const auto& value : values_)
        parameters.push_back(const_cast<std::byte*>(value.data()));
    const auto status = driver.cuLaunchKernel(function_, spec_.grid.x, spec_.grid.y, spec_.grid.z,
                                              spec_.block.x, spec_.block.y, spec_.block.z,
                                              static_cast<unsigned>(spec_.dynamicSharedBytes),
                                              device_.stream(), parameters.data(), nullptr);
    if (status == CUDA_ERROR_INVALID_VALUE || status == CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES) {
        auto error = driver.failure("launch the kernel", status);
        error.kind = ErrorKind::InvalidInput;
        error.remedy = "look at the size of the block and its shared memory";
        return std::unexpected(std::move(error));
    }
    return driver.check("launch the kernel", status);
}

Result<std::vector<BufferContents>> PreparedLaunch::outputs() const {
    const auto& driver = device_.driver();
    std::vector<BufferContents> all;
    for (const auto& argument : buffers_) {
        if (!argument->spec.isOutput)
            continue;
        BufferContents contents;
        contents.name = argument->spec.name;
        contents.element = argument->spec.element;
        contents.elementBytes = argument->spec.elementBytes;
        contents.bytes.resize(argument->buffer->bytes());
        if (!contents.bytes.empty()) {
            if (auto copied =
                    driver.check("read a buffer", driver.cuMemcpyDtoH(contents.bytes.data(),
                                                                      argument->buffer->address(),
                                                                      contents.bytes.size()));
                !copied)
                return std::unexpected(copied.error());
        }
        all.push_back(std::move(contents));
    }
    return all;
}

Result<std::vector<std::string>> PreparedLaunch::strayWrites() const {
    std::vector<std::string> sentences;
    for (const auto& argument : buffers_) {
        const auto offsets = argument->buffer->writesOutside();
        if (!offsets)
            return std::unexpected(offsets.error());
        for (const std::int64_t offset : *offsets) {
            const auto bytes = static_cast<std::int64_t>(argument->buffer->bytes());
            sentences.push_back("the kernel wrote " +
                                (offset < 0 ? std::to_string(-offset) + " bytes before"
                                            : std::to_string(offset - bytes) + " bytes past") +
                                " the " + (offset < 0 ? "begin" : "end") + " of '" +
                                argument->spec.name + "'");
        }
    }
    return sentences;
}

} // namespace kernelskill::engine::gpu
