import { type Static, type TSchema, Type } from 'typebox';
import { Value } from 'typebox/value';
import { EngineRefused } from '../engine.ts';

/** The parts of the Docker API's answers that the driver reads. What an engine adds to them is of no concern. */

const Labels = Type.Union([Type.Record(Type.String(), Type.String()), Type.Null()]);

export const Version = Type.Object({
  Version: Type.String(),
  Arch: Type.Optional(Type.String()),
  Components: Type.Optional(
    Type.Union([
      Type.Array(Type.Object({ Name: Type.String(), Version: Type.Optional(Type.String()) })),
      Type.Null(),
    ]),
  ),
});

export const Info = Type.Object({
  CgroupDriver: Type.Optional(Type.String()),
  CgroupVersion: Type.Optional(Type.String()),
  DockerRootDir: Type.Optional(Type.String()),
  MemoryLimit: Type.Optional(Type.Boolean()),
  CpuCfsQuota: Type.Optional(Type.Boolean()),
  SystemTime: Type.Optional(Type.String()),
  Plugins: Type.Optional(
    Type.Object({ Log: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])) }),
  ),
});

export const ImageInspection = Type.Object({
  Id: Type.String(),
  RepoDigests: Type.Optional(Type.Union([Type.Array(Type.String()), Type.Null()])),
});

export const PullLine = Type.Object({
  status: Type.Optional(Type.String()),
  id: Type.Optional(Type.String()),
  error: Type.Optional(Type.String()),
  progressDetail: Type.Optional(
    Type.Object({
      current: Type.Optional(Type.Number()),
      total: Type.Optional(Type.Number()),
    }),
  ),
});
export type PullLine = Static<typeof PullLine>;

export const Created = Type.Object({ Id: Type.String() });

export const State = Type.Object({
  Status: Type.String(),
  Running: Type.Boolean(),
  Paused: Type.Boolean(),
  Restarting: Type.Boolean(),
  OOMKilled: Type.Boolean(),
  Dead: Type.Boolean(),
  Pid: Type.Number(),
  ExitCode: Type.Number(),
  Error: Type.String(),
  StartedAt: Type.String(),
  FinishedAt: Type.String(),
});
export type State = Static<typeof State>;

export const Inspection = Type.Object({
  Id: Type.String(),
  Name: Type.String(),
  State,
  HostConfig: Type.Object({
    NetworkMode: Type.String(),
    CgroupParent: Type.Optional(Type.String()),
    Memory: Type.Optional(Type.Number()),
  }),
  Config: Type.Object({ Labels: Type.Optional(Labels) }),
});
export type Inspection = Static<typeof Inspection>;

export const Listed = Type.Array(
  Type.Object({
    Id: Type.String(),
    Names: Type.Union([Type.Array(Type.String()), Type.Null()]),
    Labels: Type.Optional(Labels),
    State: Type.String(),
    Created: Type.Number(),
    HostConfig: Type.Optional(Type.Object({ NetworkMode: Type.Optional(Type.String()) })),
  }),
);
export type Listed = Static<typeof Listed>;

const Network = Type.Object({
  Id: Type.String(),
  Name: Type.String(),
  Created: Type.Optional(Type.String()),
  Labels: Type.Optional(Labels),
  IPAM: Type.Object({
    Config: Type.Optional(
      Type.Union([
        Type.Array(
          Type.Object({
            Gateway: Type.Optional(Type.String()),
            Subnet: Type.Optional(Type.String()),
          }),
        ),
        Type.Null(),
      ]),
    ),
  }),
});
export type Network = Static<typeof Network>;
export const Networks = Type.Array(Network);

const Counters = Type.Object({ rx_bytes: Type.Number(), tx_bytes: Type.Number() });

/** Absent where there is nothing to count, or where the container has just ended. */
export const Statistics = Type.Object({
  cpu_stats: Type.Optional(
    Type.Object({
      cpu_usage: Type.Optional(Type.Object({ total_usage: Type.Optional(Type.Number()) })),
    }),
  ),
  blkio_stats: Type.Optional(
    Type.Object({
      io_service_bytes_recursive: Type.Optional(
        Type.Union([
          Type.Array(Type.Object({ op: Type.String(), value: Type.Number() })),
          Type.Null(),
        ]),
      ),
    }),
  ),
  networks: Type.Optional(Type.Union([Type.Record(Type.String(), Counters), Type.Null()])),
});
export type Statistics = Static<typeof Statistics>;

/** `what` completes "The engine's answer about …". */
export function read<Schema extends TSchema>(
  schema: Schema,
  value: unknown,
  what: string,
): Static<Schema> {
  if (Value.Check(schema, value)) return value;
  const [first] = Value.Errors(schema, value);
  throw new EngineRefused(
    `The engine's answer about ${what} is not one of the Docker API (${first?.instancePath ?? ''} ${first?.message ?? ''}).`,
  );
}
