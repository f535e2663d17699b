#include "engine/process/watchdog.h"

#include "engine/process/frame_io.h"

#include <poll.h>
#include <unistd.h>

namespace kernelskill::engine {
namespace {

constexpr std::chrono::milliseconds glance{20}; // How often the watchdog checks.

} // namespace

Watchdog::Watchdog(int server, int answers, LateAnswer lateAnswer)
    : server_(server), answers_(answers), lateAnswer_(std::move(lateAnswer)),
      thread_([this](const std::stop_token& stop) { watch(stop); }) {}

Watchdog::Guard Watchdog::guard(std::chrono::milliseconds time) {
    const std::scoped_lock lock(mutex_);
    time_ = time;
    deadline_ = Clock::now() + time;
    return Guard(*this);
}

void Watchdog::disarm() {
    const std::scoped_lock lock(mutex_);
    deadline_.reset();
}

bool Watchdog::send(std::span<const std::byte> frame) {
    const std::scoped_lock lock(mutex_);
    return wire::writeAll(answers_, frame);
}

void Watchdog::watch(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
        pollfd server{server_, 0, 0};
        if (::poll(&server, 1, static_cast<int>(glance.count())) > 0 &&
            (server.revents & (POLLHUP | POLLERR)) != 0)
            ::_exit(0);
        const std::scoped_lock lock(mutex_);
        if (!deadline_ || Clock::now() < *deadline_)
            continue;
        wire::writeAll(answers_, lateAnswer_(time_));
        ::_exit(3);
    }
}

} // namespace kernelskill::engine
