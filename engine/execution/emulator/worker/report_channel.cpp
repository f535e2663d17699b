#include "engine/execution/emulator/worker/report_channel.h"

#include <cerrno>
#include <unistd.h>

namespace kernelskill::engine::emulator {

void ReportChannel::finish(const WorkerReport& report) const {
    const std::vector<std::byte> bytes = encode(report);
    std::size_t done = 0;
    while (done < bytes.size()) {
        const ssize_t count = write(descriptor_, bytes.data() + done, bytes.size() - done);
        if (count < 0 && errno != EINTR)
            _exit(1);
        if (count > 0)
            done += static_cast<std::size_t>(count);
    }
    _exit(0);
}

} // namespace kernelskill::engine::emulator
