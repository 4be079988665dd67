import Fastify from 'fastify';

/** A bare route of the same framework that reads the same body, answers the same, and keeps nothing. */
const app = Fastify();
app.addContentTypeParser('*', { parseAs: 'string' }, (_request, body, done) => done(null, body));
app.post('/actors/v2/:reactorId/messages', async (request, reply) => {
  const msg = new URLSearchParams(String(request.body)).get('message');
  return reply.code(201).send({
    status: 'success',
    message: 'The request was successful.',
    result: { executionId: 'wq7PeV3mcNz4Ta', msg, _links: { self: '', owner: '', messages: '' } },
    version: '0',
  });
});
process.send?.(await app.listen({ host: '127.0.0.1', port: 0 }));
process.once('disconnect', () => process.exit());
