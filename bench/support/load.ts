/** A closed-loop HTTP load generator on raw sockets: cheap enough to share two cores with what it measures. */
import { connect, type Socket } from 'node:net';

export interface LoadOptions {
  readonly port: number;
  readonly connections: number;
  readonly warmUpSeconds: number;
  readonly seconds: number;
  /** The bytes of the i-th request. */
  request(i: number): Buffer;
  /** Every answer must have it. */
  readonly status: number;
}
export interface LoadResult {
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Answers while it was counted. */
  readonly count: number;
  /** All answers, warm-up included. */
  readonly total: number;
}

export function httpRequest(method: string, path: string, headers: Readonly<Record<string, string>>, body = ''): Buffer {
  const lines = Object.entries({
    host: 'localhost',
    ...(body ? { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) } : {}),
    ...headers,
  });
  return Buffer.from(`${method} ${path} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`);
}

export async function load({ port, connections, warmUpSeconds, seconds, request, status }: LoadOptions): Promise<LoadResult> {
  const begin = performance.now() + warmUpSeconds * 1000;
  const end = begin + seconds * 1000;
  const latencies: number[] = [];
  let sent = 0;
  let total = 0;

  const worker = async () => {
    const socket = connect(port, '127.0.0.1');
    socket.setNoDelay(true);
    const answers = reader(socket);
    while (performance.now() < end) {
      const start = performance.now();
      socket.write(request(sent++));
      const answer = await answers();
      const now = performance.now();
      total += 1;
      if (answer.status !== status)
        throw new Error(`answer ${answer.status} instead of ${status}: ${answer.body.toString().slice(0, 500)}`);
      if (start >= begin && now <= end) latencies.push(now - start);
    }
    socket.destroy();
  };
  await Promise.all(Array.from({ length: connections }, worker));
  latencies.sort((a, b) => a - b);
  const at = (part: number) => Math.round((latencies[Math.floor(latencies.length * part)] ?? 0) * 10) / 10;
  return { perSecond: Math.round(latencies.length / seconds), p50Ms: at(0.5), p99Ms: at(0.99), count: latencies.length, total };
}

/** Reads answers one after another; each has a content-length or no body. */
function reader(socket: Socket): () => Promise<{ status: number; body: Buffer }> {
  let buffer = Buffer.alloc(0);
  let wake: ((error?: Error) => void) | undefined;
  socket.on('data', (chunk) => {
    buffer = Buffer.concat([buffer, chunk as Buffer]);
    wake?.();
  });
  socket.on('error', (error) => wake?.(error));
  socket.on('close', () => wake?.(new Error('the connection was closed')));
  const more = () =>
    new Promise<void>((resolve, reject) => {
      wake = (error) => (error ? reject(error) : resolve());
    });
  return async () => {
    for (;;) {
      const head = buffer.indexOf('\r\n\r\n');
      if (head >= 0) {
        const text = buffer.toString('latin1', 0, head);
        const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
        if (buffer.length >= head + 4 + length) {
          const answer = { status: Number(text.slice(9, 12)), body: buffer.subarray(head + 4, head + 4 + length) };
          buffer = buffer.subarray(head + 4 + length);
          return answer;
        }
      }
      await more();
    }
  };
}
