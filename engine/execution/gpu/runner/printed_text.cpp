#include "engine/execution/gpu/runner/printed_text.h"

#include <algorithm>
#include <cstdio>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

namespace kernelskill::engine::gpu {

std::optional<PrintedText> PrintedText::redirectStandardOutput() {
    FileDescriptor file(::memfd_create("printed", MFD_CLOEXEC));
    if (!file.isOpen() || ::dup2(file.get(), STDOUT_FILENO) < 0)
        return std::nullopt;
    return PrintedText(std::move(file));
}

std::string PrintedText::take() const {
    std::fflush(stdout);
    const off_t end = ::lseek(file_.get(), 0, SEEK_END);
    std::string text(std::min<std::size_t>(end > 0 ? static_cast<std::size_t>(end) : 0, maxBytes),
                     '\0');
    const ssize_t count = ::pread(file_.get(), text.data(), text.size(), 0);
    text.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    if (::ftruncate(file_.get(), 0) != 0 || ::lseek(file_.get(), 0, SEEK_SET) != 0)
        text.clear(); // Never returns the same text twice.
    return text;
}

} // namespace kernelskill::engine::gpu
