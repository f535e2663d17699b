#include "engine/graph/torch/timing.h"

#include "engine/graph/torch/failures.h"
#include "engine/graph/torch/round_clock.h"

#include <utility>

namespace kernelskill::engine::graph {

Result<TorchTiming> timeProgram(const PreparedProgram& program, const TorchTimingRequest& request) {
    return withoutExceptions("the program cannot be timed", "", [&]() -> Result<TorchTiming> {
        auto clock = RoundClock::of(program.place().device);
        if (!clock)
            return std::unexpected(clock.error());
        auto times = timeRounds({request.warmUpRounds, request.rounds, request.longest}, [&] {
            auto first = program.begin();
            Result<Values> last; // Freed behind the round.
            return clock->time([&]() -> Result<void> {
                last = program.run(std::move(first), {});
                return last ? Result<void>() : std::unexpected(last.error());
            });
        });
        if (!times)
            return std::unexpected(times.error());
        return TorchTiming{std::move(*times), clock->isOfDevice()};
    });
}

} // namespace kernelskill::engine::graph
